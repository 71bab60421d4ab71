import { boundedFirst, checkedCursor } from '../../../platform/paging.ts';
import type { User as UserShape } from '../domain/sign-in.ts';
import { builder } from './builder.ts';
import { ExecutionConnection } from './execution-fields.ts';
import { Execution } from './execution.ts';

/** A user: somebody who has signed in. */
export const User = builder.objectRef<UserShape>('User').implement({
  description: 'Somebody who has signed in. Only themselves, admins and service keys see who they are.',
  fields: (t) => ({
    id: t.exposeID('id', { description: '`usr_...`.' }),
    email: t.exposeString('email', {
      nullable: true,
      description: 'As the platform gave it; null where it gave none. Accounts are never joined by it.',
    }),
    name: t.exposeString('name', { nullable: true, description: 'Name for people.' }),
    picture: t.exposeString('picture', { nullable: true, description: 'Address of an image.' }),
    subject: t.exposeString('subject', {
      nullable: true,
      description:
        'What the identity provider calls them; taken wherever a user id is. Null for who has never come that way.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When they first signed in.' }),
    lastSignInAt: t.expose('lastSignInAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When they last signed in, by any way.',
    }),
    openSessions: t.exposeInt('openSessions', { description: 'How many of their sessions are open.' }),
    executions: t.field({
      type: ExecutionConnection,
      description: 'What runs for them, newest first, as far as the caller may see it.',
      args: {
        first: t.arg.int({ required: true, defaultValue: 50, description: 'From 1 to 1000.' }),
        after: t.arg.string({ description: '`endCursor` of the page before.' }),
      },
      resolve: ({ id }, { first, after }, { caller, services }) =>
        services.executions.list(caller, {
          userId: id,
          first: boundedFirst(first, 1000),
          after: checkedCursor(after),
        }),
    }),
  }),
});

builder.asEntity(User, {
  key: builder.selection<{ id: string }>('id'),
  resolveReference: ({ id }, { loaders }) => loaders.users.load(id),
});

builder.objectField(Execution, 'user', (t) =>
  t.field({
    type: User,
    nullable: true,
    description: 'For whom it runs, when they have signed in and the caller may see them.',
    resolve: ({ userId }, _, { loaders }) => (userId === null ? null : loaders.users.load(userId)),
  }),
);

builder.queryField('viewer', (t) =>
  t.field({
    type: User,
    nullable: true,
    description: 'Who is asking; null for callers who have not signed in.',
    rule: 'public',
    resolve: (_, __, { caller, loaders }) => (caller.kind === 'user' ? loaders.users.load(caller.id) : null),
  }),
);

builder.mutationField('deletePerson', (t) =>
  t.field({
    type: 'Boolean',
    description:
      'Deletes the account of a user, as `deleteAccount` does for oneself. NOT_FOUND for an id that is nobody’s.',
    rule: 'admin',
    args: { id: t.arg.id({ required: true, description: 'The id of the user.' }) },
    resolve: async (_, { id }, { services }) => {
      await services.signIn.users.deletePerson(id);
      return true;
    },
  }),
);

builder.mutationField('deleteAccount', (t) =>
  t.field({
    type: 'Boolean',
    description:
      "Deletes the caller's account: who they are, every way in, every session. Then their work is cancelled and what they made is deleted: tasks, files, prompts, executions. Payments stay without name, e-mail and parameters, totals of usage without the person. It takes as long as their work takes to end.",
    rule: 'owner',
    audited: true,
    resolve: async (_, __, { caller, services }) => {
      await services.signIn.users.deleteAccount(caller);
      return true;
    },
  }),
);
