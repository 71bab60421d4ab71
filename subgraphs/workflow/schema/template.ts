import { notFound } from '../../../platform/errors.ts';
import { boundedFirst, checkedCursor } from '../../../platform/paging.ts';
import type { Template as TemplateShape, templateTypes } from '../domain/template.ts';
import { builder, connection } from './builder.ts';
import type { WorkflowContext } from './context.ts';

/** What a template makes. */
export const TemplateType = builder.enumType('TemplateType', {
  description: 'What a template makes.',
  values: {
    IMAGE: { description: 'Images.' },
    VIDEO: { description: 'A video.' },
  } satisfies Record<(typeof templateTypes)[number], { description: string }>,
});

/** A sellable workflow. */
export const Template = builder.objectRef<TemplateShape>('Template').implement({
  description: 'A sellable workflow, identified by its code.',
  fields: (t) => ({
    code: t.exposeID('code', { description: 'Chosen by its creator: letters, digits, _ and -.' }),
    name: t.exposeString('name', { description: 'Name for people.' }),
    description: t.exposeString('description', { nullable: true, description: 'What it does, for people.' }),
    workflow: t.exposeString('workflow', { description: 'Name of the workflow that is executed.' }),
    creditCost: t.exposeInt('creditCost', { description: 'Price of one execution in credits.' }),
    price: t.exposeInt('price', {
      nullable: true,
      description: 'Price of one execution in minor units of its currency; null: that of its credits.',
    }),
    currency: t.exposeString('currency', {
      nullable: true,
      description: 'Lower-case ISO 4217; null: the usual one (PP_CURRENCY).',
    }),
    version: t.exposeString('version', { nullable: true, description: 'Dotted version text.' }),
    templateType: t.expose('templateType', { type: TemplateType, description: 'What it makes.' }),
    tags: t.stringList({ description: 'Words to find it by.', resolve: ({ tags }) => [...tags] }),
    imageModel: t.exposeString('imageModel', { nullable: true, description: 'Model of image templates.' }),
    imagePrompt: t.exposeString('imagePrompt', {
      nullable: true,
      description: "Prompt text; {prompt} in it is filled from the execution's parameters.",
    }),
    parameters: t.expose('parameters', {
      type: 'JSON',
      description: 'Which parameters an execution takes: name -> type, required, limits, description.',
    }),
    isActive: t.exposeBoolean('isActive', { description: 'Whether it can be executed now.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  }),
});

builder.asEntity(Template, {
  key: builder.selection<{ code: string }>('code'),
  resolveReference: ({ code }, { loaders }) => loaders.templates.load(code),
});

interface TemplatePage {
  readonly items: readonly TemplateShape[];
  readonly hasNextPage: boolean;
  readonly after: string | null;
  readonly count: () => Promise<number>;
}

const TemplateConnection = connection(Template, {
  name: 'Template',
  order: 'ordered by code',
  readItems: ({ items }: TemplatePage) => items,
  formatCursor: ({ code }) => code,
  readCount: ({ count }) => count(),
});

builder.queryField('templates', (t) =>
  t.field({
    type: [Template],
    description: 'Templates, ordered by code, at most 1000.',
    deprecationReason: 'Use templatesConnection.',
    rule: 'public',
    args: {
      activeOnly: t.arg.boolean({
        required: true,
        defaultValue: true,
        description: 'Leave out those that can not be executed now.',
      }),
    },
    resolve: async (_, { activeOnly }, { services }) => [...(await services.templates.list({ activeOnly }))],
  }),
);

/** Codes are 1 to 64 of these. */
const isCode = (text: string): boolean => /^[\w-]{1,64}$/.test(text);

builder.queryField('templatesConnection', (t) =>
  t.field({
    type: TemplateConnection,
    description: 'Templates, ordered by code.',
    rule: 'public',
    args: {
      activeOnly: t.arg.boolean({
        required: true,
        defaultValue: true,
        description: 'Leave out those that can not be executed now.',
      }),
      first: t.arg.int({ required: true, defaultValue: 50, description: 'From 1 to 1000.' }),
      after: t.arg.string({ description: 'Cursor of the last template already seen.' }),
    },
    async resolve(_, { activeOnly, ...asked }, { services: { templates } }) {
      const [first, after] = [boundedFirst(asked.first, 1000), checkedCursor(asked.after, isCode)];
      const found = await templates.list({ activeOnly, limit: first + 1, after });
      const items = found.slice(0, first);
      const hasNextPage = found.length > first;
      return { items, hasNextPage, after, count: () => templates.count({ activeOnly }) };
    },
  }),
);

builder.queryField('template', (t) =>
  t.field({
    type: Template,
    nullable: true,
    description: 'One template by its code; null when there is none.',
    rule: 'public',
    args: { code: t.arg.id({ required: true, description: 'The code of the template.' }) },
    resolve: async (_, { code }, { services }) => (await services.templates.byCodes([code]))[0] ?? null,
  }),
);

/** The template of an execution, which outlives its deletion. */
export async function loadTemplate(code: string, { loaders }: WorkflowContext): Promise<TemplateShape> {
  const template = await loaders.templates.load(code);
  if (template === null) throw notFound('template', code);
  return template;
}
