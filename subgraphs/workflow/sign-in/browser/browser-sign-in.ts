import { AppError, badInput } from '../../../../platform/errors.ts';
import type { NewSession, SessionService, SignedIn, UserService } from '../../domain/sign-in.ts';
import type { IdentityProvider } from '../provider/identity-provider.ts';
import { checkChallenge, type LoginCodes } from '../sessions/login-codes.ts';
import type { Attempts, AttemptCookie } from './attempts.ts';
import { checkedRedirect, type RedirectRule } from './redirects.ts';

/** Signing in with a browser at the identity provider. */
export type BrowserSignIn = ReturnType<typeof createBrowserSignIn>;

interface BeginRequest {
  /** Where to go afterwards; null answers the tokens at the callback. */
  readonly redirectUrl: string | null;
  readonly scopes: readonly string[];
  /** S256 challenge of an app that will exchange the login code. */
  readonly codeChallenge: string | null;
}

/** The result of an attempt: a session, or a redirect. */
export interface CompletedSignIn {
  readonly signedIn: SignedIn | null;
  readonly location: string | null;
  /** The cookie to delete. */
  readonly cookieName: string;
}

export interface BrowserSignInOptions {
  /** Null where none is set up. */
  readonly provider: IdentityProvider | null;
  readonly attempts: Attempts;
  readonly codes: LoginCodes;
  readonly users: Pick<UserService, 'linkUser'>;
  readonly sessions: Pick<SessionService, 'open'>;
  readonly redirects: RedirectRule;
}

const MAX_SCOPES = 20;
/** A scope token (RFC 6749, 3.3). */
const SCOPE = /^[\x21\x23-\x5B\x5D-\x7E]{1,64}$/;

/** Creates it; without a provider every attempt throws NOT_CONFIGURED. */
export function createBrowserSignIn(options: BrowserSignInOptions) {
  const { attempts, codes, users, sessions, redirects } = options;
  const provider = (): IdentityProvider => {
    if (options.provider !== null) return options.provider;
    throw new AppError('NOT_CONFIGURED', 'sign-in with an identity provider is not available here');
  };
  return {
    /** The address of the login page, and the cookie to set. BAD_USER_INPUT, UNAVAILABLE. */
    async begin({
      redirectUrl,
      scopes,
      codeChallenge,
    }: BeginRequest): Promise<{ readonly url: string; readonly cookie: AttemptCookie }> {
      checkScopes(scopes);
      if (codeChallenge !== null) checkChallenge(codeChallenge);
      const target = redirectUrl === null ? null : checkedRedirect(redirectUrl, redirects);
      if (target !== null && codeChallenge === null) checkIsPage(target);
      const { url, ...begun } = await provider().begin({ scopes });
      return { url, cookie: await attempts.begin({ ...begun, target, challenge: codeChallenge }) };
    },
    /**
     * Handles the callback: answers tokens, or the app's address with a login code. `query` is the callback's query string,
     * `cookies` the request's cookies. BAD_USER_INPUT, UNAUTHENTICATED, UNAVAILABLE.
     */
    async complete({
      query,
      cookies,
    }: {
      readonly query: string;
      readonly cookies: string;
    }): Promise<CompletedSignIn> {
      const state = stateIn(query);
      const attempt = await attempts.end(state, cookies);
      const { identity, refreshToken, scope } = await provider().complete(query, attempt);
      const user = await users.linkUser(identity);
      const session: NewSession = {
        userId: user.id,
        platform: 'idp',
        scope: scope === '' ? attempt.scope : scope,
        providerToken: refreshToken,
      };
      const cookieName = attempts.nameOf(state);
      if (attempt.target === null)
        return { signedIn: await sessions.open(session), location: null, cookieName };
      const location = new URL(attempt.target);
      location.searchParams.set('login_code', await codes.issue(session, attempt.challenge));
      return { signedIn: null, location: location.href, cookieName };
    },
  };
}

/** Any app can claim another app's scheme, so a login code for one needs a PKCE challenge (RFC 8252). */
function checkIsPage(target: string): void {
  if (/^https?:/.test(target)) return;
  throw badInput('code_challenge', 'code_challenge is needed when redirect_url is the scheme of an app');
}

function checkScopes(scopes: readonly string[]): void {
  if (scopes.length > MAX_SCOPES || !scopes.every((scope) => SCOPE.test(scope))) {
    throw badInput('scopes', `scopes must be at most ${MAX_SCOPES} words, separated by commas`);
  }
}

function stateIn(query: string): string {
  const states = new URLSearchParams(query).getAll('state');
  const [state] = states;
  if (states.length !== 1 || state === undefined || state === '') {
    throw badInput('state', 'state is missing: begin at /auth/idp/authorize');
  }
  return state;
}
