import { notFound } from '../../../platform/errors.ts';
import { changeTemplates, createTestTemplate, type BulkShape } from '../templates/bulk.ts';
import type { CatalogFinding } from '../templates/catalog-findings.ts';
import type { TemplateReference } from '../templates/catalog-references.ts';
import type { Template as TemplateShape } from '../templates/template.ts';
import { builder } from './builder.ts';
import type { WorkflowContext } from './context.ts';
import { Template, TemplateType } from './template.ts';

type StateShape = CatalogFinding & { readonly template: TemplateShape };

const CatalogState = builder.objectRef<StateShape>('CatalogState').implement({
  description: 'How a template stands at the payment provider.',
  fields: (t) => ({
    template: t.field({ type: Template, description: 'The template.', resolve: ({ template }) => template }),
    synced: t.boolean({
      description: 'Whether its product is as it should be.',
      resolve: ({ reference, issues }) => reference !== null && issues.length === 0,
    }),
    issues: t.stringList({ description: 'What is wrong.', resolve: ({ issues }) => [...issues] }),
    recommendations: t.stringList({
      description: 'What to do about it.',
      resolve: ({ recommendations }) => [...recommendations],
    }),
  }),
});

const CatalogDiagnosis = builder
  .objectRef<Awaited<ReturnType<WorkflowContext['services']['catalog']['diagnose']>>>('CatalogDiagnosis')
  .implement({
    description: 'Whether the payment provider can be worked with.',
    fields: (t) => ({
      environment: t.exposeString('environment', {
        description: 'development (the sandbox), test or live, by the key; none where no provider is set up.',
      }),
      apiKeyValid: t.exposeBoolean('apiKeyValid', { description: 'Whether the provider takes our key.' }),
      chargesEnabled: t.exposeBoolean('chargesEnabled', {
        nullable: true,
        description: 'Whether the account may take money; null when that can not be known.',
      }),
      country: t.exposeString('country', { nullable: true, description: 'Of the account, ISO 3166.' }),
      issues: t.stringList({ description: 'What is wrong.', resolve: ({ issues }) => [...issues] }),
      recommendations: t.stringList({
        description: 'What to do about it.',
        resolve: ({ recommendations }) => [...recommendations],
      }),
    }),
  });

const ppField =
  (name: 'productId' | 'priceId') => async (template: TemplateShape, _: object, context: WorkflowContext) =>
    (await referenceOf(template, context))?.[name] ?? null;

function referenceOf(
  { code }: TemplateShape,
  { loaders }: WorkflowContext,
): Promise<TemplateReference | null> {
  return loaders.templateReferences.load(code);
}

builder.objectFields(Template, (t) => ({
  ppProductId: t.string({
    nullable: true,
    description: 'Its product at the payment provider; null while it is not there.',
    resolve: ppField('productId'),
  }),
  ppPriceId: t.string({
    nullable: true,
    description: 'Its price at the payment provider; null while it is not there.',
    resolve: ppField('priceId'),
  }),
  ppSynced: t.boolean({
    description: 'Whether it was brought over to the payment provider as it is now.',
    resolve: async (template, _, context) =>
      context.services.catalog.isCurrent(template, await referenceOf(template, context)),
  }),
  lastPpSyncAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'When it was last brought over to the payment provider.',
    resolve: async (template, _, context) => (await referenceOf(template, context))?.syncedAt ?? null,
  }),
}));

const TemplateInput = builder.inputType('TemplateInput', {
  description: 'What a template is made of.',
  fields: (t) => ({
    code: t.id({
      required: true,
      description: '1 to 64 letters, digits, _ and -; one of a deleted template may be used again.',
    }),
    name: t.string({ required: true, description: 'Name for people.' }),
    description: t.string({ description: 'What it does, for people.' }),
    workflow: t.string({
      description:
        'What is executed: image, video, or comfy:<name> of a bundled comfy workflow; by its type when absent.',
    }),
    creditCost: t.int({ description: 'Price of one execution in credits; 0 when absent.' }),
    version: t.string({ description: 'Dotted version text.' }),
    templateType: t.field({ type: TemplateType, description: 'What it makes; IMAGE when absent.' }),
    tags: t.stringList({ description: 'Words to find it by.' }),
    imageModel: t.string({ description: "Which of the generator's models; its default when absent." }),
    imagePrompt: t.string({
      description: "Prompt text; {prompt} in it is filled from the execution's parameters.",
    }),
  }),
});

const TemplateChange = builder.inputType('TemplateChange', {
  description: 'What to change of a template; what is absent stays.',
  fields: (t) => ({
    name: t.string({ description: 'Name for people.' }),
    description: t.string({ description: 'What it does, for people.' }),
    creditCost: t.int({ description: 'Price of one execution in credits.' }),
    isActive: t.boolean({ description: 'Whether it can be executed and bought.' }),
  }),
});

builder.mutationField('createTemplate', (t) =>
  t.field({
    type: Template,
    description:
      'Makes a template and its product at the payment provider; without the provider only the template.',
    rule: 'admin',
    args: { input: t.arg({ type: TemplateInput, required: true, description: 'The template.' }) },
    resolve: async (_, { input }, { services }) => {
      const template = await services.templates.create(input);
      await services.catalog.trySync(template);
      return template;
    },
  }),
);

builder.mutationField('updateTemplate', (t) =>
  t.field({
    type: Template,
    description: 'Changes a template and its product at the payment provider.',
    rule: 'admin',
    args: {
      code: t.arg.id({ required: true, description: 'The code of the template.' }),
      change: t.arg({ type: TemplateChange, required: true, description: 'What to change.' }),
    },
    resolve: async (_, { code, change }, { services }) => {
      const template = await services.templates.update(code, change);
      await services.catalog.trySync(template);
      return template;
    },
  }),
);

builder.mutationField('deleteTemplate', (t) =>
  t.field({
    type: 'Boolean',
    description:
      'Deletes a template and archives its product. Payments and executions keep it; its code is free again.',
    rule: 'admin',
    args: { code: t.arg.id({ required: true, description: 'The code of the template.' }) },
    resolve: async (_, { code }, { services }) => {
      await services.catalog.trySync(await services.templates.remove(code));
      return true;
    },
  }),
);

builder.mutationField('syncTemplates', (t) =>
  t.field({
    type: [CatalogState],
    description:
      'Brings templates over to the payment provider, one after the other; what goes wrong is among the issues.',
    rule: 'admin',
    args: {
      codes: t.arg.idList({ description: 'Which; every one when absent.' }),
      force: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: 'Also those that are up to date as far as we know.',
      }),
    },
    resolve: async (_, { codes, force }, { services }) => {
      const states: StateShape[] = [];
      for (const template of await chosen(services, codes)) {
        states.push({ template, ...(await services.catalog.syncAndTell(template, force)) });
      }
      return states;
    },
  }),
);

const TemplateOperation = builder.enumType('TemplateOperation', {
  description: 'What can be done to many templates at once.',
  values: {
    SYNC: { description: 'Bring over to the payment provider.' },
    ACTIVATE: { description: 'Can be executed and bought from then on.' },
    DEACTIVATE: { description: 'Can not be executed or bought any more.' },
    DELETE: { description: 'Delete.' },
  },
});

const TemplateFailure = builder
  .objectRef<{ readonly code: string; readonly error: string }>('TemplateFailure')
  .implement({
    description: 'A template that was left as it was.',
    fields: (t) => ({
      code: t.exposeID('code', { description: 'Its code.' }),
      error: t.exposeString('error', { description: 'Why.' }),
    }),
  });

const BulkResult = builder.objectRef<BulkShape>('BulkResult').implement({
  description: 'What became of many templates.',
  fields: (t) => ({
    successful: t.idList({
      description: 'Codes that it was done to.',
      resolve: ({ successful }) => [...successful],
    }),
    failed: t.field({
      type: [TemplateFailure],
      description: 'Those that it was not done to.',
      resolve: ({ failed }) => [...failed],
    }),
    total: t.int({
      description: 'How many there were.',
      resolve: ({ successful, failed }) => successful.length + failed.length,
    }),
  }),
});

builder.mutationField('changeTemplates', (t) =>
  t.field({
    type: BulkResult,
    description:
      'Does the same to many templates, one after the other; one that fails keeps no other from it.',
    rule: 'admin',
    args: {
      codes: t.arg.idList({ required: true, description: 'Which, at most 1,000.' }),
      operation: t.arg({ type: TemplateOperation, required: true, description: 'What to do.' }),
    },
    resolve: (_, { codes, operation }, { services }) => changeTemplates(services, codes, operation),
  }),
);

builder.mutationField('createTestTemplate', (t) =>
  t.field({
    type: Template,
    description: 'Makes a template to try things with, `test-...`; not in production.',
    rule: 'admin',
    resolve: async (_, __, { services }) => {
      const template = await createTestTemplate(services);
      await services.catalog.trySync(template);
      return template;
    },
  }),
);

builder.mutationField('importBundledTemplates', (t) =>
  t.field({
    type: 'JSON',
    description:
      'Adds the bundled templates that are not there, deleted ones too: { total, imported, failed, details: [{ code, status, error }] }. Existing ones count as imported.',
    rule: 'admin',
    resolve: async (_, __, { services }) => {
      const details = await services.templates.importBundled({ again: true });
      const failed = details.filter(({ status }) => status === 'error').length;
      const { length: total } = details;
      return { total, imported: total - failed, failed, details: details.map((detail) => ({ ...detail })) };
    },
  }),
);

builder.queryField('catalogState', (t) =>
  t.field({
    type: [CatalogState],
    description: 'How templates stand at the payment provider: each is looked at there.',
    rule: 'admin',
    args: { codes: t.arg.idList({ description: 'Which; every one when absent.' }) },
    resolve: async (_, { codes }, { services }) => {
      const states: StateShape[] = [];
      for (const template of await chosen(services, codes)) {
        states.push({ template, ...(await services.catalog.verify(template)) });
      }
      return states;
    },
  }),
);

builder.queryField('diagnoseCatalog', (t) =>
  t.field({
    type: CatalogDiagnosis,
    description: 'Whether the payment provider can be worked with.',
    rule: 'admin',
    resolve: (_, __, { services }) => services.catalog.diagnose(),
  }),
);

/** NOT_FOUND for a code that names none. */
async function chosen(
  { templates }: Pick<WorkflowContext['services'], 'templates'>,
  codes: readonly string[] | null | undefined,
): Promise<readonly TemplateShape[]> {
  if (codes === null || codes === undefined) return templates.list({ activeOnly: false });
  const found = await templates.byCodes(codes);
  return found.map((template, index) => {
    if (template === null) throw notFound('template', codes[index] ?? '');
    return template;
  });
}
