import type { Caller as CallerShape } from '../../../platform/access/caller.ts';
import {
  decide,
  hasScope,
  mayRunUnpaid,
  type Rule,
  findNeededScope,
} from '../../../platform/access/policy.ts';
import type { CallerFacts as CallerFactsShape } from '../domain/sign-in.ts';
import { builder } from './builder.ts';
import type { WorkflowContext } from './context.ts';

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
    resolve: (_, { credential }, { services }) => services.signIn.findCaller(credential),
  }),
);

const CallerKind = builder.enumType('CallerKind', {
  description: 'What a request proves of who asks.',
  values: {
    ANONYMOUS: { description: 'No credential.', value: 'anonymous' },
    USER: { description: 'The access token of somebody who has signed in.', value: 'user' },
    KEY: { description: 'A service key.', value: 'key' },
    INTERNAL: { description: 'Kiln itself.', value: 'internal' },
  } as const,
});

/** Whether the policy, and of a service key its scopes, let a caller start or change what has this rule. */
function isAllowed(
  rule: Rule,
  caller: CallerShape,
  { authMode }: Pick<WorkflowContext, 'authMode'>,
): boolean {
  const needed = findNeededScope({ rule, kind: 'mutation' });
  const isInScope = caller.kind !== 'key' || needed === null || hasScope(caller, needed);
  return isInScope && decide(rule, caller, authMode) === 'allow';
}

const allowed = (rule: Rule) => ({
  type: 'Boolean' as const,
  resolve: (caller: CallerShape, _: object, context: WorkflowContext) => isAllowed(rule, caller, context),
});

const Caller = builder.objectRef<CallerShape>('Caller').implement({
  description:
    'Who is asking and what they may do here (REST_AUTH), so that an interface shows nothing else.',
  fields: (t) => ({
    id: t.exposeID('id', { description: '`anon`, `usr_...` or `key_...`: the owner of what they make.' }),
    kind: t.field({
      type: CallerKind,
      description: 'What the request proves.',
      resolve: ({ kind }) => kind,
    }),
    mayStart: t.field({ ...allowed('spend'), description: 'Whether they may start work.' }),
    mayRunUnpaid: t.boolean({
      description:
        'Whether they may run templates that cost something without a checkout (UNPAID_EXECUTIONS).',
      resolve: (caller, _, context) =>
        isAllowed('unpaid', caller, context) && mayRunUnpaid(caller, context.services.unpaidExecutions),
    }),
    mayAdministrate: t.field({
      ...allowed('admin'),
      description: 'Whether they may change what all callers see, and refund payments.',
    }),
    mayIssueKeys: t.field({
      ...allowed('operator'),
      description: 'Whether they may see, make and revoke service keys.',
    }),
  }),
});

builder.queryField('caller', (t) =>
  t.field({
    type: Caller,
    description: 'Who is asking, with or without a credential, and what they may do.',
    rule: 'public',
    resolve: (_, __, { caller }) => caller,
  }),
);
