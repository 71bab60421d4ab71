import { AppError } from '../../../platform/errors.ts';
import type { Session as SessionShape, SignedIn } from '../domain/sign-in.ts';
import { builder } from './builder.ts';
import { User } from './user.ts';

/** A session, as its user and administrators see it. */
export const Session = builder.objectRef<SessionShape>('Session').implement({
  description: 'A sign-in that lasts until it is closed, or not renewed for a month.',
  fields: (t) => ({
    id: t.exposeID('id', { description: '`ses_...`.' }),
    platform: t.exposeString('platform', { description: 'The way in: idp, wechat, alipay, douyin.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it began.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its tokens were last renewed.',
    }),
    current: t.boolean({
      description: 'Whether the request was sent with a token of this session.',
      resolve: ({ id }, _, { caller }) => caller.sessionId === id,
    }),
  }),
});

/** What a sign-in answers. */
export const SignIn = builder.objectRef<SignedIn>('SignIn').implement({
  description: 'Tokens of a session. They are in this answer and nowhere else.',
  fields: (t) => ({
    user: t.field({
      type: User,
      description: 'Who has signed in.',
      resolve: async ({ userId }, _, { services }) => {
        const [user] = await services.signIn.users.byIds([userId]);
        if (!user) throw new AppError('UNAUTHENTICATED', 'the account is gone');
        return user;
      },
    }),
    accessToken: t.exposeString('accessToken', { description: 'Send it as `Authorization: Bearer`.' }),
    refreshToken: t.exposeString('refreshToken', { description: 'For refreshSession, once.' }),
    expiresIn: t.exposeInt('expiresIn', { description: 'Seconds that the access token is good for.' }),
    scope: t.exposeString('scope', { description: 'What was granted, separated by spaces.' }),
  }),
});

builder.queryField('sessions', (t) =>
  t.field({
    type: [Session],
    description: "The caller's open sessions, newest first; empty for callers who have not signed in.",
    rule: 'owner',
    resolve: async (_, __, { caller, services }) =>
      caller.kind === 'user' ? [...(await services.signIn.sessions.list(caller.id))] : [],
  }),
);

builder.mutationField('refreshSession', (t) =>
  t.field({
    type: SignIn,
    description:
      'New tokens for a refresh token. Two who come with the same one within half a minute get the same answer; one that was used before closes the session.',
    rule: 'proof',
    args: {
      refreshToken: t.arg.string({ required: true, description: 'What the last sign-in or refresh gave.' }),
      userId: t.arg.id({ description: "When given, it must be the token's user." }),
    },
    resolve: async (_, { refreshToken, userId }, { services }) => {
      const { users, sessions } = services.signIn;
      const named = userId === null || userId === undefined ? null : await users.findUserId(userId);
      return sessions.refresh(refreshToken, named);
    },
  }),
);

builder.mutationField('revokeSession', (t) =>
  t.field({
    type: 'Boolean',
    description:
      "Closes a session: one of the caller's own by its id, or that of a token of either kind. Unknown tokens are fine. It holds everywhere within seconds.",
    rule: 'proof',
    args: {
      id: t.arg.id({ description: "One of the caller's sessions." }),
      token: t.arg.string({ description: 'An access or a refresh token.' }),
      userId: t.arg.id({ description: "When given with a token, it must be the token's user." }),
    },
    resolve: async (_, { id, token, userId }, { caller, services }) => {
      const { users, sessions } = services.signIn;
      if (typeof token === 'string' && !id) {
        const named = userId === null || userId === undefined ? null : await users.findUserId(userId);
        await sessions.revokeToken(token, named);
      } else if (id && typeof token !== 'string') await sessions.revoke(caller, id);
      else throw new AppError('BAD_USER_INPUT', 'give exactly one of id and token', { field: 'id' });
      return true;
    },
  }),
);
