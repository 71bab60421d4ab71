import type { Caller } from '../../../../platform/access/caller.ts';
import { badInput } from '../../../../platform/errors.ts';
import type { NewSession, PlatformIdentity, SessionService, UserService } from '../../domain/sign-in.ts';
import type { IdentityProvider } from '../provider/identity-provider.ts';
import type { LoginCodes } from '../sessions/login-codes.ts';
import type { Platform } from './platform.ts';

/** Signing in without a browser: a login code, an ID token or a code of a native app, a mini-program's code. */
export type PlatformSignIn = ReturnType<typeof createPlatformSignIn>;

type Text = string | null | undefined;

interface PlatformSignInRequest {
  /** idp, wechat, alipay, douyin. */
  readonly platform: string;
  /** Which of the operator's apps; may be left out where there is one. */
  readonly appId?: Text;
  readonly code?: Text;
  readonly anonymousCode?: Text;
  readonly idToken?: Text;
  readonly nonce?: Text;
  readonly loginCode?: Text;
  readonly codeVerifier?: Text;
  readonly redirectUri?: Text;
}

export interface PlatformSignInOptions {
  readonly provider: IdentityProvider | null;
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly codes: LoginCodes;
  readonly users: Pick<UserService, 'linkUser'>;
  readonly sessions: Pick<SessionService, 'open'>;
}

/** Longest code in characters; real ones have fewer than 200. */
const MAX_CODE = 1_000;

/** Creates it over one adapter per platform. */
export function createPlatformSignIn(options: PlatformSignInOptions) {
  const { sessions } = options;
  return {
    /** BAD_USER_INPUT naming what is missing, UNAUTHENTICATED, RATE_LIMITED, NOT_CONFIGURED, UNAVAILABLE. */
    signIn: async (caller: Caller, request: PlatformSignInRequest) =>
      sessions.open(await verifiedSession(options, caller, request)),
  };
}

async function verifiedSession(
  options: PlatformSignInOptions,
  caller: Caller,
  request: PlatformSignInRequest,
): Promise<NewSession> {
  if (request.platform === 'idp') return verifiedByProvider(options, caller, request);
  const platform = options.platforms.get(request.platform);
  if (platform === undefined) {
    const known = ['idp', ...options.platforms.keys()].join(', ');
    throw badInput('platform', `platform must be one of those that are set up here: ${known}`);
  }
  const appId = request.appId ?? (platform.appIds.length === 1 ? platform.appIds[0] : undefined);
  if (appId === undefined || !platform.appIds.includes(appId)) {
    throw badInput('appId', 'appId must be one of the apps that are set up here');
  }
  const { code = null, anonymousCode = null } = request;
  if (!code && !anonymousCode) throw badInput('code', 'code is needed');
  if (`${code ?? ''}${anonymousCode ?? ''}`.length > MAX_CODE) throw badInput('code', 'code is too long');
  return startSession(options, caller, {
    identity: await platform.exchange({ appId, code, anonymousCode }),
    refreshToken: null,
    scope: 'openid',
  });
}

async function verifiedByProvider(
  options: PlatformSignInOptions,
  caller: Caller,
  request: PlatformSignInRequest,
): Promise<NewSession> {
  const { loginCode, idToken, code, codeVerifier = null, redirectUri, nonce = null } = request;
  const credentials = [loginCode, idToken, code].filter(Boolean);
  if (credentials.length !== 1)
    throw badInput('loginCode', 'give exactly one of a login code, an ID token and a code');
  if (loginCode) return options.codes.redeem(loginCode, codeVerifier);
  const { provider } = options;
  if (provider === null)
    throw badInput('platform', 'sign-in with an identity provider is not available here');
  if (idToken) {
    const identity = await provider.readIdentity(idToken, nonce);
    return startSession(options, caller, { identity, refreshToken: null, scope: 'openid' });
  }
  if (!codeVerifier) throw badInput('codeVerifier', 'codeVerifier is needed with code');
  if (!redirectUri) throw badInput('redirectUri', 'redirectUri is needed with code');
  return startSession(
    options,
    caller,
    await provider.exchange({ code: code ?? '', verifier: codeVerifier, redirectUri, nonce }),
  );
}

/** A caller who is signed in already links the identity to their account. */
async function startSession(
  { users }: PlatformSignInOptions,
  caller: Caller,
  proof: {
    readonly identity: PlatformIdentity;
    readonly refreshToken: string | null;
    readonly scope: string;
  },
): Promise<NewSession> {
  const { identity, refreshToken, scope } = proof;
  const user = await users.linkUser(identity, caller.kind === 'user' ? { joins: caller } : {});
  return { userId: user.id, platform: identity.platform, scope, providerToken: refreshToken };
}
