import { type DataOf, graphql } from '../graphql.ts';

/** The GraphQL documents about templates and their products. */

const templateFields = graphql(`
  fragment TemplateFields on Template {
    code
    name
    description
    workflow
    creditCost
    price
    currency
    templateType
    tags
    isActive
    ppProductId
    ppPriceId
    ppSynced
    lastPpSyncAt
    createdAt
  }
`);

/** A template, as replies report it. */
export type TemplateFields = DataOf<typeof templateFields>;

/** Every template, or those that can be executed. */
export const Templates = graphql(
  `
    query Templates($activeOnly: Boolean!) {
      templatesConnection(activeOnly: $activeOnly, first: 1000) {
        edges {
          node {
            ...TemplateFields
          }
        }
      }
    }
  `,
  [templateFields],
);

/** Every template with what keeps it from running now. */
export const TemplateStates = graphql(
  `
    query TemplateStates {
      templatesConnection(activeOnly: false, first: 1000) {
        edges {
          node {
            ...TemplateFields
          }
        }
      }
      unrunnableTemplates {
        reason
        template {
          code
        }
      }
    }
  `,
  [templateFields],
);

/** One template. */
export const TemplateByCode = graphql(
  `
    query TemplateByCode($code: ID!) {
      template(code: $code) {
        ...TemplateFields
      }
    }
  `,
  [templateFields],
);

/** Makes a template. */
export const CreateTemplate = graphql(
  `
    mutation CreateTemplate($input: TemplateInput!) {
      createTemplate(input: $input) {
        ...TemplateFields
      }
    }
  `,
  [templateFields],
);

/** Makes a template to try things with. */
export const CreateTestTemplate = graphql(
  `
    mutation CreateTestTemplate {
      createTestTemplate {
        ...TemplateFields
      }
    }
  `,
  [templateFields],
);

/** Changes a template. */
export const UpdateTemplate = graphql(
  `
    mutation UpdateTemplate($code: ID!, $change: TemplateChange!) {
      updateTemplate(code: $code, change: $change) {
        ...TemplateFields
      }
    }
  `,
  [templateFields],
);

/** Deletes a template. */
export const DeleteTemplate = graphql(`
  mutation DeleteTemplate($code: ID!) {
    deleteTemplate(code: $code)
  }
`);

const catalogStateFields = graphql(`
  fragment CatalogStateFields on CatalogState {
    synced
    issues
    recommendations
    template {
      code
      ppProductId
      ppPriceId
    }
  }
`);

/** Brings templates over to the payment provider. */
export const SyncTemplates = graphql(
  `
    mutation SyncTemplates($codes: [ID!], $force: Boolean!) {
      syncTemplates(codes: $codes, force: $force) {
        ...CatalogStateFields
      }
    }
  `,
  [catalogStateFields],
);

/** How templates stand at the payment provider. */
export const CatalogStates = graphql(
  `
    query CatalogStates($codes: [ID!]) {
      catalogState(codes: $codes) {
        ...CatalogStateFields
      }
    }
  `,
  [catalogStateFields],
);

/** The same to many templates. */
export const ChangeTemplates = graphql(`
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
export const ImportTemplates = graphql(`
  mutation ImportTemplates {
    importBundledTemplates
  }
`);

/** Whether the payment provider can be worked with. */
export const DiagnoseCatalog = graphql(`
  query DiagnoseCatalog {
    diagnoseCatalog {
      environment
      apiKeyValid
      chargesEnabled
      country
      issues
      recommendations
    }
    unrunnableTemplates {
      reason
      template {
        code
      }
    }
  }
`);

/** Whether the workflow service works. */
export const WorkflowHealth = graphql(`
  query WorkflowHealth {
    workflowHealth {
      totalTemplates
      time
    }
  }
`);
