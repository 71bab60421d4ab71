import type { CompletedSignIn as CompletedShape } from '../sign-in/browser/browser-sign-in.ts';
import { builder } from './builder.ts';
import { SignIn } from './session.ts';

const SignInAttempt = builder
  .objectRef<{
    readonly url: string;
    readonly cookieName: string;
    readonly cookieValue: string;
    readonly maxAge: number;
  }>('SignInAttempt')
  .implement({
    description: 'A sign-in with a browser that has begun.',
    fields: (t) => ({
      url: t.exposeString('url', {
        description: 'Where the browser goes: the page of the identity provider.',
      }),
      cookieName: t.exposeString('cookieName', {
        description: 'Name of the cookie that this browser must keep: HttpOnly, SameSite=Lax, Path=/.',
      }),
      cookieValue: t.exposeString('cookieValue', {
        description: 'Its value: sealed, of use to nobody else.',
      }),
      maxAge: t.exposeInt('maxAge', { description: 'Seconds that the sign-in may take.' }),
    }),
  });

const CompletedSignIn = builder.objectRef<CompletedShape>('CompletedSignIn').implement({
  description: 'The end of a sign-in with a browser: tokens, or where to go with a login code.',
  fields: (t) => ({
    signIn: t.field({
      type: SignIn,
      nullable: true,
      description: 'The tokens, when no redirect was asked for.',
      resolve: ({ signedIn }) => signedIn,
    }),
    location: t.exposeString('location', {
      nullable: true,
      description:
        "The app's address with a login code, good once within a minute, when a redirect was asked for.",
    }),
    cookieName: t.exposeString('cookieName', { description: 'The cookie that may go now.' }),
  }),
});

builder.mutationField('beginSignIn', (t) =>
  t.field({
    type: SignInAttempt,
    description:
      'Begins a sign-in with a browser. `GET /auth/idp/authorize` is this with a cookie and a redirect.',
    rule: 'public',
    args: {
      redirectUrl: t.arg.string({
        description:
          'A path of this service, or an address listed in SIGN_IN_REDIRECTS; absent: the callback answers the tokens.',
      }),
      scopes: t.arg.stringList({ description: 'What to ask for; openid, email, profile when absent.' }),
      codeChallenge: t.arg.string({
        description: 'S256 challenge of an app that will exchange the login code itself.',
      }),
    },
    resolve: async (_, { redirectUrl = null, scopes, codeChallenge = null }, { services }) => {
      const { url, cookie } = await services.signIn.browser.begin({
        redirectUrl,
        scopes: scopes ?? ['openid', 'email', 'profile'],
        codeChallenge,
      });
      return { url, cookieName: cookie.name, cookieValue: cookie.value, maxAge: cookie.maxAgeSeconds };
    },
  }),
);

builder.mutationField('completeSignIn', (t) =>
  t.field({
    type: CompletedSignIn,
    description: 'Ends a sign-in with a browser. `GET /auth/idp/callback` is this.',
    rule: 'proof',
    audited: true,
    args: {
      query: t.arg.string({
        required: true,
        description: 'What the identity provider appended to the address of the callback.',
      }),
      cookies: t.arg.string({
        required: true,
        description: 'The Cookie header of the browser that came back.',
      }),
    },
    resolve: (_, { query, cookies }, { services }) => services.signIn.browser.complete({ query, cookies }),
  }),
);

const PlatformSignInInput = builder.inputType('PlatformSignInInput', {
  description: 'What proves who somebody is, at one platform.',
  fields: (t) => ({
    platform: t.string({ required: true, description: 'idp, wechat, alipay or douyin.' }),
    appId: t.string({ description: 'Which mini-program; may be left out where only one is set up.' }),
    code: t.string({
      description: 'The code of a mini-program, or of a native app at the identity provider.',
    }),
    anonymousCode: t.string({ description: 'douyin: of somebody who has not signed in there.' }),
    idToken: t.string({ description: 'idp: the ID token of a native app.' }),
    nonce: t.string({ description: 'idp: the nonce that the ID token must carry.' }),
    loginCode: t.string({ description: 'idp: what the redirect of a sign-in with a browser carried.' }),
    codeVerifier: t.string({ description: 'idp: proves that the app is the one that asked for the code.' }),
    redirectUri: t.string({ description: 'idp: the address that the code was asked for with.' }),
  }),
});

builder.mutationField('signInWithPlatform', (t) =>
  t.field({
    type: SignIn,
    description:
      'Signs in with what a platform gave; who is signed in already adds that platform to their account. Accounts are never joined by e-mail.',
    rule: 'proof',
    audited: true,
    args: {
      input: t.arg({ type: PlatformSignInInput, required: true, description: 'The proof.' }),
    },
    resolve: (_, { input }, { caller, services }) => services.signIn.platforms.signIn(caller, input),
  }),
);

builder.queryField('signingKeys', (t) =>
  t.field({
    type: 'JSON',
    description:
      "The public keys of Kiln's access tokens, as a JSON Web Key Set: the ones that sign, signed a while ago, and will sign next.",
    rule: 'public',
    resolve: async (_, __, { services }) => ({ keys: await services.signIn.publicKeys() }),
  }),
);

builder.queryField('signOutUrl', (t) =>
  t.string({
    nullable: true,
    description:
      'Where a browser goes to sign out at the identity provider as well; null when it has no such page. Close the session first.',
    rule: 'public',
    resolve: (_, __, { services }) => services.signIn.signOutUrl(),
  }),
);
