import type { CatalogModel } from '../generators/bindings/binding.ts';
import { builder } from './builder.ts';

const Model = builder.objectRef<CatalogModel>('Model').implement({
  description: 'What a caller may name as generator and model, with its machine-readable limits.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'What `model` arguments take.' }),
    name: t.exposeString('name', { description: 'Name for people.' }),
    category: t.exposeString('category', {
      description: 'image, video, speech, language, workflow or avatar.',
    }),
    generator: t.exposeString('generator', { description: 'What `generator` arguments take.' }),
    provider: t.exposeString('provider', { description: 'The upstream wire behind it.' }),
    inputs: t.stringList({
      description: 'Names of the inputs it takes.',
      resolve: ({ inputs }) => [...inputs],
    }),
    sizes: t.stringList({
      nullable: true,
      description: 'Values of `resolution` it takes; null when any.',
      resolve: ({ sizes }) => (sizes === null ? null : [...sizes]),
    }),
    durations: t.floatList({
      nullable: true,
      description: 'Durations in seconds it can make; null when any or none.',
      resolve: ({ durations }) => (durations === null ? null : [...durations]),
    }),
    maxPrompt: t.exposeInt('maxPrompt', { nullable: true, description: 'Most characters of a prompt.' }),
    kinds: t.stringList({
      description: 'Kinds of task it does, such as VIDEO; CHAT for `chat`.',
      resolve: ({ kinds }) => [...kinds],
    }),
    needs: t.stringList({
      description: 'Inputs it can not do without, besides those that are required anyway.',
      resolve: ({ needs }) => [...needs],
    }),
    aspectRatios: t.stringList({
      nullable: true,
      description: 'Values of `aspectRatio` it takes; null when any.',
      resolve: ({ aspectRatios }) => (aspectRatios === null ? null : [...aspectRatios]),
    }),
    formats: t.stringList({
      nullable: true,
      description: 'Values of `format` it takes; null when any.',
      resolve: ({ formats }) => (formats === null ? null : [...formats]),
    }),
    ranges: t.field({
      type: 'JSON',
      description: 'Inputs that are numbers, by name: [least, most].',
      resolve: ({ ranges }) => ranges,
    }),
    maxCount: t.exposeInt('maxCount', { nullable: true, description: 'Most results of one request.' }),
    maxImages: t.exposeInt('maxImages', { nullable: true, description: 'Most input images.' }),
    sandbox: t.exposeBoolean('sandbox', {
      description: 'Whether it is the sandbox and not a real upstream.',
    }),
  }),
});

builder.queryField('models', (t) =>
  t.field({
    type: [Model],
    description: 'What can be named here as generator and model.',
    rule: 'public',
    args: {
      generator: t.arg.string({ description: 'Only those of this generator.' }),
      category: t.arg.string({ description: 'Only those of this category.' }),
    },
    resolve: (_, { generator, category }, { services }) => [
      ...services.registry.models({
        ...(typeof generator === 'string' ? { generator } : {}),
        ...(typeof category === 'string' ? { category } : {}),
      }),
    ],
  }),
);
