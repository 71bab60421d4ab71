import { builder } from './builder.ts';
import type { GeneratorHealth as GeneratorHealthShape, MediaHealth as MediaHealthShape } from './context.ts';

const GeneratorHealth = builder.objectRef<GeneratorHealthShape>('GeneratorHealth').implement({
  description: 'Whether a generator does work here.',
  fields: (t) => ({
    generator: t.exposeString('generator', { description: 'Its name.' }),
    state: t.exposeString('state', {
      description:
        '"ok", "sandbox" (every binding points to the sandbox), "degraded" (some of its providers refuse our credentials, or do not have a model), or "not available".',
    }),
    setting: t.string({
      nullable: true,
      description: 'The settings that would make it available; null for everybody but administrators.',
      resolve: ({ setting }, _, { caller }) => (caller.scopes.includes('admin') ? setting : null),
    }),
    problem: t.string({
      nullable: true,
      description: 'What is wrong with it, by provider; null for everybody but administrators.',
      resolve: ({ problem }, _, { caller }) => (caller.scopes.includes('admin') ? problem : null),
    }),
  }),
});

const MediaHealth = builder.objectRef<MediaHealthShape>('MediaHealth').implement({
  description: 'Whether the media service works, and which part of it does not.',
  fields: (t) => ({
    service: t.exposeString('service', { description: 'Name of the service.' }),
    version: t.exposeString('version', { description: 'Its version.' }),
    time: t.expose('time', { type: 'DateTime', description: 'Its clock.' }),
    generators: t.expose('generators', {
      type: [GeneratorHealth],
      description: 'Every generator, in the order of their names.',
    }),
    checks: t.expose('checks', { type: 'JSON', description: 'Part -> "ok", or what is wrong with it.' }),
  }),
});

builder.queryField('health', (t) =>
  t.field({
    type: MediaHealth,
    description: 'Whether the media service works, and which part of it does not.',
    rule: 'public',
    resolve: (_, __, { services }) => services.health(),
  }),
);
