import { changeTemplates, createTestTemplate, type BulkShape } from '../catalog/bulk.ts';
import { builder } from './builder.ts';
import { Template, TemplateType } from './template.ts';

type InputFields = Parameters<NonNullable<Parameters<typeof builder.inputType>[1]['fields']>>[0];

/** What may be said of a template when it is made, and changed later. */
const sharedFields = (t: InputFields) => ({
  description: t.string({ description: 'What it does, for people.' }),
  workflow: t.string({
    description:
      'What is executed: image, video, comfy:<name> of a bundled comfy workflow, or a name of WORKFLOW_NAMES; by its type when absent.',
  }),
  creditCost: t.int({ description: 'Price of one execution in credits; 0 when never given.' }),
  price: t.int({
    description: 'Price of one execution in minor units of its currency, in place of that of its credits.',
  }),
  currency: t.string({
    description: 'ISO 4217, in place of the usual one; an empty text takes an own price and currency back.',
  }),
  version: t.string({ description: 'Dotted version text.' }),
  templateType: t.field({ type: TemplateType, description: 'What it makes; IMAGE when never given.' }),
  tags: t.stringList({ description: 'Words to find it by.' }),
  imageModel: t.string({
    description:
      'A model of the list `models`, whichever generator has it; the usual one when absent or empty.',
  }),
  imagePrompt: t.string({
    description: "Prompt text; {prompt} in it is filled from the execution's parameters.",
  }),
});

const TemplateInput = builder.inputType('TemplateInput', {
  description: 'What a template is made of.',
  fields: (t) => ({
    code: t.id({
      required: true,
      description: '1 to 64 letters, digits, _ and -; one of a deleted template may be used again.',
    }),
    name: t.string({ required: true, description: 'Name for people.' }),
    ...sharedFields(t),
  }),
});

const TemplateChange = builder.inputType('TemplateChange', {
  description: 'What to change of a template; what is absent or null stays, an empty text removes.',
  fields: (t) => ({
    name: t.string({ description: 'Name for people.' }),
    ...sharedFields(t),
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
      const details = await services.templates.importBundled();
      const failed = details.filter(({ status }) => status === 'error').length;
      const { length: total } = details;
      return { total, imported: total - failed, failed, details: details.map((detail) => ({ ...detail })) };
    },
  }),
);
