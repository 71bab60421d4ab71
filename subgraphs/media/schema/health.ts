import { builder } from './builder.ts';
import type { MediaHealth as MediaHealthShape } from './context.ts';

const MediaHealth = builder.objectRef<MediaHealthShape>('MediaHealth').implement({
  description: 'Whether the media service works, and which part of it does not.',
  fields: (t) => ({
    service: t.exposeString('service', { description: 'Name of the service.' }),
    version: t.exposeString('version', { description: 'Its version.' }),
    time: t.expose('time', { type: 'DateTime', description: 'Its clock.' }),
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
