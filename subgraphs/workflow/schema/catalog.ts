import { notFound } from '../../../platform/errors.ts';
import type { CatalogFinding } from '../catalog/findings.ts';
import type { TemplateReference } from '../catalog/references.ts';
import type { Template as TemplateShape, Unrunnable } from '../domain/template.ts';
import { builder } from './builder.ts';
import type { WorkflowContext } from './context.ts';
import { Template } from './template.ts';

type StateShape = CatalogFinding & {
  readonly template: TemplateShape;
  /** Why it can't be run now. */
  readonly cannotRun: string | null;
};

const CatalogState = builder.objectRef<StateShape>('CatalogState').implement({
  description: 'How a template stands at the payment provider.',
  fields: (t) => ({
    template: t.field({ type: Template, description: 'The template.', resolve: ({ template }) => template }),
    synced: t.boolean({
      description: 'Whether its product is as it should be.',
      resolve: ({ reference, issues }) => reference !== null && issues.length === 0,
    }),
    issues: t.stringList({
      description: 'What is wrong, at the payment provider or because the template can not be run now.',
      resolve: ({ issues, cannotRun }) => [...issues, ...(cannotRun === null ? [] : [cannotRun])],
    }),
    recommendations: t.stringList({
      description: 'What to do about it.',
      resolve: ({ recommendations, cannotRun }) => [
        ...recommendations,
        ...(cannotRun === null ? [] : ['change its workflow or imageModel, or set up its generator']),
      ],
    }),
  }),
});

const UnrunnableTemplate = builder
  .objectRef<Unrunnable & { readonly template: TemplateShape }>('UnrunnableTemplate')
  .implement({
    description: 'A template that can not be run now.',
    fields: (t) => ({
      template: t.field({
        type: Template,
        description: 'The template.',
        resolve: ({ template }) => template,
      }),
      reason: t.exposeString('reason', { description: 'Why.' }),
      generator: t.exposeString('generator', {
        nullable: true,
        description:
          'The generator that is not set up, whose setting is in `health`; null when the reason is another.',
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
    (await loadReference(template, context))?.[name] ?? null;

function loadReference(
  { code }: TemplateShape,
  { loaders }: WorkflowContext,
): Promise<TemplateReference | null> {
  return loaders.templateReferences.load(code);
}

const SalePrice = builder
  .objectRef<{ readonly amount: number; readonly currency: string }>('SalePrice')
  .implement({
    description: 'What a checkout of a template charges.',
    fields: (t) => ({
      amount: t.exposeInt('amount', { description: 'In minor units of the currency (cents); 0 is free.' }),
      currency: t.exposeString('currency', { description: 'Lower-case ISO 4217.' }),
    }),
  });

builder.objectFields(Template, (t) => ({
  salePrice: t.field({
    type: SalePrice,
    nullable: true,
    description:
      'What a checkout charges for an execution: its own price, else that of its credits. Null where nothing is sold (no payment provider).',
    resolve: (template, _, { services }) => services.catalog.findSalePrice(template),
  }),
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
      context.services.catalog.isCurrent(template, await loadReference(template, context)),
  }),
  lastPpSyncAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'When it was last brought over to the payment provider.',
    resolve: async (template, _, context) => (await loadReference(template, context))?.syncedAt ?? null,
  }),
}));

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
        states.push({
          template,
          cannotRun: null,
          ...(await services.catalog.syncAndReport(template, force)),
        });
      }
      return states;
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
      const templates = await chosen(services, codes);
      const reasons = await services.runnable.reasons(templates);
      const states: StateShape[] = [];
      for (const [index, template] of templates.entries()) {
        const cannotRun = reasons[index]?.reason ?? null;
        states.push({ template, cannotRun, ...(await services.catalog.verify(template)) });
      }
      return states;
    },
  }),
);

builder.queryField('unrunnableTemplates', (t) =>
  t.field({
    type: [UnrunnableTemplate],
    description:
      'The templates that can not be run now: their workflow or model is not known here, or its generator not set up. Empty while the media service does not answer.',
    rule: 'admin',
    resolve: async (_, __, { services }) => {
      const templates = await services.templates.list({ activeOnly: false });
      const reasons = await services.runnable.reasons(templates);
      return templates.flatMap((template, index) => {
        const found = reasons[index] ?? null;
        return found === null ? [] : [{ template, ...found }];
      });
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
