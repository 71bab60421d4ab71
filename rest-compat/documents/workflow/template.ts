import { operation } from '../../route/route.ts';

/** The GraphQL documents about templates and their products. */

/** A template, as TemplateAnswer asks for it. */
export interface TemplateAnswer {
  readonly code: string;
  readonly name: string;
  readonly description: string | null;
  readonly workflow: string;
  readonly creditCost: number;
  readonly templateType: 'IMAGE' | 'VIDEO';
  readonly tags: readonly string[];
  readonly isActive: boolean;
  readonly ppProductId: string | null;
  readonly ppPriceId: string | null;
  readonly ppSynced: boolean;
  readonly lastPpSyncAt: string | null;
  readonly createdAt: string;
}

const templateAnswer = /* GraphQL */ `
  fragment TemplateAnswer on Template {
    code
    name
    description
    workflow
    creditCost
    templateType
    tags
    isActive
    ppProductId
    ppPriceId
    ppSynced
    lastPpSyncAt
    createdAt
  }
`;

/** Every template, or those that can be executed. */
export const Templates = operation<
  { readonly templates: readonly TemplateAnswer[] },
  { readonly activeOnly: boolean }
>(/* GraphQL */ `
  query Templates($activeOnly: Boolean!) {
    templates(activeOnly: $activeOnly) {
      ...TemplateAnswer
    }
  }
  ${templateAnswer}
`);

/** One template. */
export const TemplateByCode = operation<
  { readonly template: TemplateAnswer | null },
  { readonly code: string }
>(/* GraphQL */ `
  query TemplateByCode($code: ID!) {
    template(code: $code) {
      ...TemplateAnswer
    }
  }
  ${templateAnswer}
`);

/** Makes a template. */
export const CreateTemplate = operation<
  { readonly createTemplate: TemplateAnswer },
  { readonly input: object }
>(/* GraphQL */ `
  mutation CreateTemplate($input: TemplateInput!) {
    createTemplate(input: $input) {
      ...TemplateAnswer
    }
  }
  ${templateAnswer}
`);

/** Makes a template to try things with. */
export const CreateTestTemplate = operation<
  { readonly createTestTemplate: TemplateAnswer },
  Record<string, never>
>(/* GraphQL */ `
  mutation CreateTestTemplate {
    createTestTemplate {
      ...TemplateAnswer
    }
  }
  ${templateAnswer}
`);

/** Changes a template. */
export const UpdateTemplate = operation<
  { readonly updateTemplate: TemplateAnswer },
  { readonly code: string; readonly change: object }
>(/* GraphQL */ `
  mutation UpdateTemplate($code: ID!, $change: TemplateChange!) {
    updateTemplate(code: $code, change: $change) {
      ...TemplateAnswer
    }
  }
  ${templateAnswer}
`);

/** Deletes a template. */
export const DeleteTemplate = operation<{ readonly deleteTemplate: boolean }, { readonly code: string }>(
  /* GraphQL */ `
    mutation DeleteTemplate($code: ID!) {
      deleteTemplate(code: $code)
    }
  `,
);

/** How a template stands at the payment provider. */
export interface StateAnswer {
  readonly synced: boolean;
  readonly issues: readonly string[];
  readonly recommendations: readonly string[];
  readonly template: Pick<TemplateAnswer, 'code' | 'ppProductId' | 'ppPriceId'>;
}

const stateAnswer = /* GraphQL */ `
  fragment StateAnswer on CatalogState {
    synced
    issues
    recommendations
    template {
      code
      ppProductId
      ppPriceId
    }
  }
`;

/** Brings templates over to the payment provider. */
export const SyncTemplates = operation<
  { readonly syncTemplates: readonly StateAnswer[] },
  { readonly codes: readonly string[] | null; readonly force: boolean }
>(/* GraphQL */ `
  mutation SyncTemplates($codes: [ID!], $force: Boolean!) {
    syncTemplates(codes: $codes, force: $force) {
      ...StateAnswer
    }
  }
  ${stateAnswer}
`);

/** How templates stand at the payment provider. */
export const CatalogStates = operation<
  { readonly catalogState: readonly StateAnswer[] },
  { readonly codes: readonly string[] }
>(/* GraphQL */ `
  query CatalogStates($codes: [ID!]) {
    catalogState(codes: $codes) {
      ...StateAnswer
    }
  }
  ${stateAnswer}
`);

/** The same to many templates. */
export const ChangeTemplates = operation<
  {
    readonly changeTemplates: {
      readonly successful: readonly string[];
      readonly failed: readonly { readonly code: string; readonly error: string }[];
      readonly total: number;
    };
  },
  { readonly codes: readonly string[]; readonly operation: string }
>(/* GraphQL */ `
  mutation ChangeTemplates($codes: [ID!]!, $operation: TemplateOperation!) {
    changeTemplates(codes: $codes, operation: $operation) {
      successful
      failed {
        code
        error
      }
      total
    }
  }
`);

/** Adds the bundled templates. */
export const ImportTemplates = operation<{ readonly importBundledTemplates: object }, Record<string, never>>(
  /* GraphQL */ `
    mutation ImportTemplates {
      importBundledTemplates
    }
  `,
);

/** Whether the payment provider can be worked with. */
export const DiagnoseCatalog = operation<
  {
    readonly diagnoseCatalog: {
      readonly environment: string;
      readonly apiKeyValid: boolean;
      readonly chargesEnabled: boolean | null;
      readonly country: string | null;
      readonly issues: readonly string[];
      readonly recommendations: readonly string[];
    };
  },
  Record<string, never>
>(/* GraphQL */ `
  query DiagnoseCatalog {
    diagnoseCatalog {
      environment
      apiKeyValid
      chargesEnabled
      country
      issues
      recommendations
    }
  }
`);

/** Whether the workflow service works. */
export const WorkflowHealth = operation<
  { readonly workflowHealth: { readonly totalTemplates: number; readonly time: string } },
  Record<string, never>
>(/* GraphQL */ `
  query WorkflowHealth {
    workflowHealth {
      totalTemplates
      time
    }
  }
`);
