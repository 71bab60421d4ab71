import { pricedUnits } from '../domain/price.ts';
import { stepKinds, workKinds } from '../domain/work/work.ts';
import type { GeneratorRegistry, ListedModel } from '../generators/bindings/binding.ts';
import { findModels, type FoundModel as Found, learnModel } from '../generators/bindings/find-models.ts';
import { builder } from './builder.ts';

const categories = [...new Set(stepKinds.map((kind) => workKinds[kind].category))];

const Model = builder.objectRef<ListedModel>('Model').implement({
  description: 'What a caller may name as generator and model, with its machine-readable limits.',
  fields: (t) => ({
    id: t.id({
      description: 'Unique over all generators: generator:model.',
      resolve: ({ generator, id }) => `${generator}:${id}`,
    }),
    model: t.exposeString('id', {
      description:
        'What `model` arguments take, together with `generator`; other generators may have it too.',
    }),
    isDefault: t.exposeBoolean('isDefault', {
      description: 'Whether its generator takes it for one of `kinds` when no model is named.',
    }),
    name: t.exposeString('name', { description: 'Name for people.' }),
    category: t.exposeString('category', { description: `One of ${categories.join(', ')}.` }),
    generator: t.exposeString('generator', { description: 'What `generator` arguments take.' }),
    provider: t.exposeString('provider', { description: 'The provider behind it.' }),
    inputs: t.exposeStringList('inputs', { description: 'Names of the inputs it takes.' }),
    sizes: t.exposeStringList('sizes', {
      nullable: true,
      description: 'Values of `resolution` it takes; null when any.',
    }),
    durations: t.exposeFloatList('durations', {
      nullable: true,
      description: 'Durations in seconds it can make; null when any or none.',
    }),
    maxPrompt: t.exposeInt('maxPrompt', { nullable: true, description: 'Most characters of a prompt.' }),
    kinds: t.exposeStringList('kinds', {
      description: 'Kinds of task it does, such as VIDEO; CHAT for `chat`.',
    }),
    needs: t.exposeStringList('needs', {
      description: 'Inputs it requires, besides those that are always required.',
    }),
    aspectRatios: t.exposeStringList('aspectRatios', {
      nullable: true,
      description: 'Values of `aspectRatio` it takes; null when any.',
    }),
    formats: t.exposeStringList('formats', {
      nullable: true,
      description: 'Values of `format` it takes; null when any.',
    }),
    ranges: t.expose('ranges', {
      type: 'JSON',
      description: 'Inputs that are numbers, by name: [least, most].',
    }),
    maxCount: t.exposeInt('maxCount', { nullable: true, description: 'Most results of one request.' }),
    counts: t.intList({
      nullable: true,
      description: 'Values of `count` it takes, where not every one up to `maxCount` is.',
      resolve: ({ counts }) => (counts === null ? null : [...counts]),
    }),
    maxImages: t.exposeInt('maxImages', { nullable: true, description: 'Most input images.' }),
    sandbox: t.exposeBoolean('sandbox', {
      description: 'Whether it is the sandbox and not a real upstream.',
    }),
  }),
});

const ModelPrice = builder
  .objectRef<NonNullable<ListedModel['charges']>['prices'][number]>('ModelPrice')
  .implement({
    description:
      'What is charged for one thing. Of several prices of a unit the first whose `when` fits holds.',
    fields: (t) => ({
      unit: t.exposeString('unit', { description: `One of ${pricedUnits.join(', ')}.` }),
      amount: t.exposeFloat('amount', {
        description: "In `currency` of the model's prices, for `per` units.",
      }),
      per: t.float({ description: 'Units that the amount is for.', resolve: ({ per = 1 }) => per }),
      when: t.field({
        type: 'JSON',
        nullable: true,
        description: 'Inputs that it is for, such as { "resolution": "1080p" }; null: any.',
        resolve: ({ when = null }) => when,
      }),
    }),
  });

const ModelPrices = builder.objectRef<NonNullable<ListedModel['charges']>>('ModelPrices').implement({
  description: 'What a provider charges for work of a model.',
  fields: (t) => ({
    currency: t.exposeString('currency', { description: 'ISO 4217 code, such as USD.' }),
    prices: t.expose('prices', { type: [ModelPrice], description: 'Each unit that is charged.' }),
    chargesFailures: t.boolean({
      description: 'Whether work that fails after it was accepted is charged.',
      resolve: ({ chargesFailures = false }) => chargesFailures,
    }),
  }),
});

builder.objectFields(Model, (t) => ({
  optionsSchema: t.field({
    type: 'JSON',
    nullable: true,
    description:
      "JSON Schema of what `options` takes, in the names of the model's vendor; null where none are known. `x-input` names the typed input that says the same, `x-kinds` the kinds of task that have an option.",
    resolve: ({ options }) => options,
  }),
  prices: t.expose('charges', {
    type: ModelPrices,
    nullable: true,
    description: 'What its provider charges here; null when that is not known.',
  }),
  hasBatches: t.boolean({
    description: 'Whether its vendor makes it in batches at half the price, for inputs that say `batch`.',
    resolve: ({ hasBatches = false }) => hasBatches,
  }),
  usualSeconds: t.float({
    nullable: true,
    description:
      'Seconds that its work usually takes from start to end: the median of the last 24 hours here, where three pieces of work or more have ended, else what the catalog says; null when neither is known.',
    resolve: (model, _, { services }) => services.usualTimes.of(model),
  }),
  releasedAt: t.exposeString('releasedAt', {
    nullable: true,
    description: 'Day on which its provider released it, YYYY-MM-DD; null when not known.',
  }),
  fetchedAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: "When its vendor's description was read; null where it is the catalog's.",
    resolve: ({ fetchedAt = null }) => fetchedAt,
  }),
  retiresAt: t.exposeString('retiresAt', {
    nullable: true,
    description:
      'The first day on which its provider refuses it, YYYY-MM-DD: from then on it is answered with MODEL_RETIRED. Null when none is known.',
  }),
  successor: t.exposeString('successor', {
    nullable: true,
    description: 'The model that its provider names in its place.',
  }),
  paused: t.boolean({
    description:
      'Whether an administrator has paused every connection that does its work: what is started waits until one is resumed.',
    resolve: ({ generator, provider }, _, { services }) => isPaused(services.registry, generator, provider),
  }),
  allowed: t.boolean({
    description: 'Whether the caller may use its generator; false for keys that are limited to others.',
    resolve: ({ generator }, _, { caller: { generators } }) => !generators || generators.includes(generator),
  }),
}));

builder.queryField('models', (t) =>
  t.field({
    type: [Model],
    description: 'What can be named here as generator and model, published workflows included.',
    rule: 'public',
    args: {
      generator: t.arg.string({ description: 'Only those of this generator.' }),
      category: t.arg.string({ description: 'Only those of this category.' }),
      retired: t.arg.boolean({
        description: 'Whether those that have ended are listed too.',
        defaultValue: false,
      }),
    },
    resolve: async (_, { generator, category, retired }, { services }) => [
      ...services.registry.models({
        ...(typeof generator === 'string' ? { generator } : {}),
        ...(typeof category === 'string' ? { category } : {}),
        retired: retired === true,
      }),
      ...(await services.savedWorkflows.models()).filter(
        (model) =>
          (generator ?? model.generator) === model.generator &&
          (category ?? model.category) === model.category,
      ),
    ],
  }),
);

builder.queryField('model', (t) =>
  t.field({
    type: Model,
    nullable: true,
    description:
      'One model of a generator. Any model of fal and Replicate may be asked for by its name there, such as fal-ai/flux-lora: its vendor is asked once what it takes, and `models` lists it from then on. Null: there is none.',
    rule: 'anyone',
    args: {
      generator: t.arg.string({ required: true, description: 'As `generator` inputs take it.' }),
      model: t.arg.string({ required: true, description: 'As `model` inputs take it.' }),
    },
    resolve: async (_, named, { services }) => {
      await learnModel(services.registry, named);
      const isIt = ({ generator, id }: ListedModel) => generator === named.generator && id === named.model;
      return (
        listedModel(services.registry, named) ?? (await services.savedWorkflows.models()).find(isIt) ?? null
      );
    },
  }),
);

const FoundModel = builder.objectRef<Found>('FoundModel').implement({
  description: 'A model of a vendor, found by its name: `model` tells what it takes.',
  fields: (t) => ({
    generator: t.exposeString('generator', { description: 'What `generator` arguments take.' }),
    provider: t.exposeString('provider', { description: 'The provider that has it.' }),
    model: t.exposeString('model', { description: 'What `model` arguments take.' }),
    name: t.exposeString('name', { description: 'Name for people.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'What it does, in the words of its vendor.',
    }),
  }),
});

builder.queryField('findModels', (t) =>
  t.field({
    type: [FoundModel],
    description:
      'Searches the names of every model of fal and Replicate, at most 20 of each, best first; none where only the catalog may be used.',
    rule: 'anyone',
    args: {
      words: t.arg.string({ required: true, description: 'What to search for, such as "upscale".' }),
      generator: t.arg.string({ description: 'Only those of this generator.' }),
    },
    resolve: async (_, { words, generator = null }, { services }) => [
      ...(await findModels(services.registry, { words, generator })),
    ],
  }),
);

builder.mutationField('refreshModel', (t) =>
  t.field({
    type: Model,
    nullable: true,
    description:
      'Asks the vendor again what a model takes that is not in the catalog. A week after the last time, and after its vendor has refused an input, that happens by itself.',
    rule: 'admin',
    args: {
      generator: t.arg.string({ required: true, description: 'As `generator` inputs take it.' }),
      model: t.arg.string({ required: true, description: 'As `model` inputs take it.' }),
    },
    resolve: async (_, named, { services }) => {
      await learnModel(services.registry, named, true);
      return listedModel(services.registry, named);
    },
  }),
);

function listedModel(
  registry: GeneratorRegistry,
  { generator, model }: { readonly generator: string; readonly model: string },
): ListedModel | null {
  return registry.models({ generator, retired: true }).find(({ id }) => id === model) ?? null;
}

function isPaused(registry: GeneratorRegistry, generator: string, provider: string): boolean {
  const own = registry.all().filter((one) => one.generator === generator && one.provider.name === provider);
  return own.length > 0 && own.every((one) => one.isPaused?.() === true);
}
