import type { ServiceKey as ServiceKeyShape } from '../domain/sign-in.ts';
import { builder } from './builder.ts';

const ServiceKey = builder.objectRef<ServiceKeyShape>('ServiceKey').implement({
  description: "A program's key. Its secret was shown when it was made, and is not kept.",
  fields: (t) => ({
    id: t.exposeID('id', { description: '`key_...`: the owner of what it makes.' }),
    name: t.exposeString('name', { description: 'Name for people.' }),
    scopes: t.stringList({
      description:
        'What it may do: `read`, `start` work, `manage` (change and end) its own things; `admin` is all, of everybody.',
      resolve: ({ scopes }) => [...scopes],
    }),
    generators: t.stringList({
      nullable: true,
      description: 'The only generators it may use, `recipe` for tasks by their task type; null: any.',
      resolve: ({ generators }) => (generators === null ? null : [...generators]),
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ends by itself; null when it does not.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, to about a minute.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was revoked.',
    }),
    formerUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Until when the secret before the last rotation works; null when none does any more.',
      resolve: ({ formerUntil }) =>
        formerUntil !== null && formerUntil.getTime() > Date.now() ? formerUntil : null,
    }),
  }),
});

const CreatedServiceKey = builder
  .objectRef<{ readonly key: ServiceKeyShape; readonly secret: string }>('CreatedServiceKey')
  .implement({
    description: 'A new service key with its secret.',
    fields: (t) => ({
      key: t.field({ type: ServiceKey, description: 'The key.', resolve: ({ key }) => key }),
      secret: t.exposeString('secret', {
        description: 'Send it as `Authorization: Bearer`. It is in this answer and nowhere else.',
      }),
    }),
  });

builder.queryField('serviceKeys', (t) =>
  t.field({
    type: [ServiceKey],
    description:
      'Every service key, revoked ones too, newest first, at most 1,000. Those of SERVICE_KEYS are not among them.',
    rule: 'operator',
    resolve: async (_, __, { services }) => [...(await services.signIn.serviceKeys.list())],
  }),
);

builder.mutationField('createServiceKey', (t) =>
  t.field({
    type: CreatedServiceKey,
    description: 'Makes a key for a program.',
    rule: 'operator',
    args: {
      name: t.arg.string({ required: true, description: '1 to 100 characters in one line.' }),
      scopes: t.arg.stringList({
        required: true,
        description: 'What it may do: `read`, `start`, `manage`, `admin`; none: the first three.',
      }),
      generators: t.arg.stringList({
        description: 'The only generators it may use, `recipe` for tasks by their task type; absent: any.',
      }),
      expiresAt: t.arg({ type: 'DateTime', description: 'When it ends by itself; absent: never.' }),
    },
    resolve: (_, { name, scopes, generators = null, expiresAt = null }, { caller, services }) =>
      services.signIn.serviceKeys.create(caller, { name, scopes, generators, expiresAt }),
  }),
);

builder.mutationField('rotateServiceKey', (t) =>
  t.field({
    type: CreatedServiceKey,
    description:
      'Gives a key another secret: its id, scopes and what it has made stay. The secret before works for a while, so that programs can change theirs one by one; revoking the key ends both. NOT_FOUND for a key that is revoked or has ended.',
    rule: 'operator',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the key.' }),
      graceSeconds: t.arg.int({
        required: true,
        defaultValue: 86_400,
        description:
          'How long the secret before still works: 0 to 2,592,000 (30 days), a day unless said otherwise.',
      }),
    },
    resolve: (_, { id, graceSeconds }, { caller, services }) =>
      services.signIn.serviceKeys.rotate(caller, id, graceSeconds),
  }),
);

builder.mutationField('revokeServiceKey', (t) =>
  t.field({
    type: ServiceKey,
    description: 'Ends a key for good; it holds everywhere within seconds.',
    rule: 'operator',
    args: { id: t.arg.id({ required: true, description: 'The id of the key.' }) },
    resolve: (_, { id }, { services }) => services.signIn.serviceKeys.revoke(id),
  }),
);
