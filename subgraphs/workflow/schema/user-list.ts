import { badInput } from '../../../platform/errors.ts';
import { boundedFirst, checkedCursor } from '../../../platform/paging.ts';
import type { User as UserShape } from '../domain/sign-in.ts';
import { builder, connection } from './builder.ts';
import { Session } from './session.ts';
import { User } from './user.ts';

/** Longest text that is looked for. */
const MAX_SEARCH = 200;

interface UserPage {
  readonly items: readonly UserShape[];
  readonly hasNextPage: boolean;
  readonly after: string | null;
}

const UserConnection = connection(User, { name: 'User', readItems: ({ items }: UserPage) => items });

builder.queryField('users', (t) =>
  t.field({
    type: UserConnection,
    description: 'Everybody who has signed in, newest first, for administrators.',
    rule: 'operator',
    args: {
      first: t.arg.int({ required: true, defaultValue: 50, description: 'From 1 to 1000.' }),
      after: t.arg.string({ description: 'Cursor of the last user already seen.' }),
      search: t.arg.string({
        description: 'A part of their name, address, id or subject, in any case; at most 200 characters.',
      }),
    },
    async resolve(_, { search, ...asked }, { services }) {
      const first = boundedFirst(asked.first, 1000);
      const after = checkedCursor(asked.after, (text) => /^usr_[\w-]{1,64}$/.test(text));
      const words = search?.trim() ?? '';
      if (words.length > MAX_SEARCH) {
        throw badInput('search', `search must have at most ${MAX_SEARCH} characters`);
      }
      const found = await services.signIn.users.list({ first, after, search: words === '' ? null : words });
      return { items: found.slice(0, first), hasNextPage: found.length > first, after };
    },
  }),
);

builder.queryField('userSessions', (t) =>
  t.field({
    type: [Session],
    description: 'The open sessions of a user, newest first, at most 100, for administrators.',
    rule: 'operator',
    args: { userId: t.arg.id({ required: true, description: 'The user: `usr_...`, or their subject.' }) },
    resolve: async (_, { userId }, { services }) => {
      const { users, sessions } = services.signIn;
      return [...(await sessions.list(await users.findUserId(userId)))];
    },
  }),
);

builder.mutationField('endUserSessions', (t) =>
  t.field({
    type: 'Int',
    description:
      'Closes every session of a user, or one of them, and says how many there were; it holds everywhere within seconds. They may sign in again.',
    rule: 'operator',
    args: {
      userId: t.arg.id({ required: true, description: 'The user: `usr_...`, or their subject.' }),
      sessionId: t.arg.id({ description: 'Only this one of their sessions; every one when absent.' }),
    },
    resolve: async (_, { userId, sessionId }, { services }) => {
      const { users, sessions } = services.signIn;
      return sessions.revokeSessions(await users.findUserId(userId), sessionId ?? null);
    },
  }),
);
