import type { CallerFacts as CallerFactsShape } from '../domain/sign-in.ts';
import { builder } from './builder.ts';

const CallerFacts = builder.objectRef<CallerFactsShape | 'invalid'>('CallerFacts').implement({
  description: "Who a credential stands for. Kiln's own processes only.",
  inaccessible: true,
  fields: (t) => ({
    kind: t.string({
      description: 'user, key; or invalid for a credential of our form that is not valid (any more).',
      resolve: (facts) => (facts === 'invalid' ? facts : facts.kind),
    }),
    id: t.id({
      description: 'The owner of what they make; empty when invalid.',
      resolve: (facts) => (facts === 'invalid' ? '' : facts.id),
    }),
    scopes: t.stringList({
      description: 'What they may do beyond their own things.',
      resolve: (facts) => (facts === 'invalid' ? [] : [...facts.scopes]),
    }),
    generators: t.stringList({
      nullable: true,
      description: 'The only generators that a key may use; null: any.',
      resolve: (facts) => (facts === 'invalid' || facts.generators === null ? null : [...facts.generators]),
    }),
    sessionId: t.id({
      nullable: true,
      description: 'The session of a token.',
      resolve: (facts) => (facts === 'invalid' ? null : facts.sessionId),
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the credential ends by itself.',
      resolve: (facts) => (facts === 'invalid' ? null : facts.expiresAt),
    }),
  }),
});

builder.queryField('callerOf', (t) =>
  t.field({
    type: CallerFacts,
    nullable: true,
    description: 'Who a credential stands for; null for a foreign one.',
    inaccessible: true,
    rule: 'service',
    args: { credential: t.arg.string({ required: true, description: 'What came behind Bearer.' }) },
    resolve: (_, { credential }, { services }) => services.signIn.callerOf(credential),
  }),
);
