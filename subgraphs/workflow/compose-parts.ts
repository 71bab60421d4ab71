import type { KeyObject } from 'node:crypto';

import type { Config } from '../../platform/config/config.ts';
import type { HttpClient } from '../../platform/http/http-client.ts';
import type { CommerceOptions } from './commerce.ts';
import { createStripe } from './payments/provider/stripe.ts';
import { developmentAdministrator } from './sign-in/browser/development-administrator.ts';
import { createAlipay } from './sign-in/platforms/alipay.ts';
import { createDouyin } from './sign-in/platforms/douyin.ts';
import type { Platform } from './sign-in/platforms/platform.ts';
import { createWechat } from './sign-in/platforms/wechat.ts';
import type { IdentityProviderSettings } from './sign-in/provider/identity-provider.ts';
import type { SignInOptions } from './sign-in/services.ts';

/** The sandbox's identity provider and platforms: the issuer that browsers see, and the addresses for this process. */
export interface SandboxIdentity {
  readonly issuer: string;
  readonly url: string;
  readonly platforms: SandboxPlatforms;
}

/** Where the platforms' stand-ins are. */
interface SandboxPlatforms {
  readonly wechat: string;
  readonly douyin: string;
  readonly alipay: { readonly baseUrl: string; readonly keys: () => Promise<AlipayKeys> };
}

/** The app's own key, and the platform's public one. */
export interface AlipayKeys {
  readonly privateKey: KeyObject;
  readonly platformKey: KeyObject;
}

/** Kiln's client at the sandbox's identity provider; the secret protects nothing there. */
const SANDBOX_CLIENT = { clientId: 'kiln', clientSecret: 'kiln-sandbox-client' } as const;

/** The sandbox's app on each platform (sandbox/platforms); the secrets protect nothing. */
const SANDBOX_APPS = {
  wechat: { appId: 'wx00000000sandbox1', secret: 'kiln-sandbox-wechat' },
  douyin: { appId: 'tt00000000sandbox1', secret: 'kiln-sandbox-douyin' },
  alipay: { appId: '2021000000000001' },
} as const;

/** The sign-in options of the settings: real providers, else the sandbox's, else none. */
export function composeSignIn(
  { auth, signIn, production }: Pick<Config, 'auth' | 'signIn' | 'production'>,
  place: {
    readonly publicUrl: string;
    readonly sandbox: SandboxIdentity | null;
    readonly http: HttpClient;
  },
): Pick<SignInOptions, 'admins' | 'provider' | 'platforms' | 'redirects' | 'legacyTokens'> {
  const { publicUrl, sandbox, http } = place;
  return {
    admins: [...auth.adminSubjects, ...(production ? [] : [developmentAdministrator])],
    provider: readProvider(signIn, publicUrl) ?? sandboxProvider(sandbox, publicUrl),
    // The sandbox's sign anybody in as anybody.
    platforms: createPlatforms(
      signIn,
      auth.isReal && auth.mode !== 'open' ? null : (sandbox?.platforms ?? null),
      http,
    ),
    redirects: signIn.redirects,
    legacyTokens: signIn.legacyTokens,
  };
}

function buildCallback(publicUrl: string): string {
  return `${publicUrl}/auth/idp/callback`;
}

function readProvider({ provider }: Config['signIn'], publicUrl: string): IdentityProviderSettings | null {
  if (provider === null) return null;
  return { ...provider, callbackUrl: provider.callbackUrl ?? buildCallback(publicUrl), internalUrl: null };
}

function sandboxProvider(
  sandbox: SandboxIdentity | null,
  publicUrl: string,
): IdentityProviderSettings | null {
  if (sandbox === null) return null;
  return {
    issuer: sandbox.issuer,
    ...SANDBOX_CLIENT,
    callbackUrl: buildCallback(publicUrl),
    endpoints: null,
    audiences: [],
    parameters: {},
    internalUrl: sandbox.url,
    // It loads its server at the first request, which takes a busy machine many seconds.
    timeoutMs: 30_000,
  };
}

/** Each platform is chosen by itself: one that is set up is real, whatever the others are. */
function createPlatforms(
  settings: Config['signIn'],
  sandbox: SandboxPlatforms | null,
  http: HttpClient,
): readonly Platform[] {
  const wechat = settings.wechat ?? (sandbox && { apps: [SANDBOX_APPS.wechat], baseUrl: sandbox.wechat });
  const douyin = settings.douyin ?? (sandbox && { apps: [SANDBOX_APPS.douyin], baseUrl: sandbox.douyin });
  const { alipay } = settings;
  return [
    ...(wechat === null ? [] : [createWechat({ http, ...wechat })]),
    ...(alipay === null ? [] : [createAlipay({ http, ...alipay })]),
    ...(alipay === null && sandbox !== null ? [alipayStandIn(http, sandbox.alipay)] : []),
    ...(douyin === null ? [] : [createDouyin({ http, ...douyin })]),
  ];
}

/** The same adapter with the sandbox's current keys. */
function alipayStandIn(http: HttpClient, { baseUrl, keys }: SandboxPlatforms['alipay']): Platform {
  const { appId } = SANDBOX_APPS.alipay;
  return {
    name: 'alipay',
    appIds: [appId],
    exchange: async (code) =>
      createAlipay({ http, baseUrl, apps: [{ appId, ...(await keys()) }] }).exchange(code),
  };
}

/** The sandbox's stand-in for Stripe, as this process reaches it. */
export interface SandboxStripe {
  readonly url: string;
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** Pays a checkout if it is open. */
  readonly pay: (sessionId: string) => Promise<void>;
}

/** The payment provider of the settings: Stripe, else the sandbox's stand-in, else none. Both use the same adapter. */
export function composeCommerce(
  { payments }: Pick<Config, 'payments'>,
  sandbox: SandboxStripe | null,
): CommerceOptions {
  const { stripe, autoPay, ...prices } = payments;
  if (stripe !== null)
    return { ...prices, provider: createStripe({ ...stripe, baseUrl: null }), autoPay: null };
  if (sandbox === null) return { ...prices, provider: null, autoPay: null };
  const { url, secretKey, webhookSecret, pay } = sandbox;
  const provider = createStripe({ secretKey, webhookSecrets: [webhookSecret], baseUrl: url });
  return { ...prices, provider, autoPay: autoPay ? pay : null };
}
