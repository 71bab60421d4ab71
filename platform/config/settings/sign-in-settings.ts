import { z } from 'zod';

import { browserOrigin, httpAddress, list, text } from './formats.ts';
import { optional, real, setting } from './setting.ts';

/** Formats of the sign-in settings. */

/** An issuer, kept exactly: with a trailing slash it is another one. */
const issuerAddress = z.string().refine((value) => httpAddress.safeParse(value).success, {
  error: 'must be an http:// or https:// address without user name, query or fragment',
});

/** An app's id and the rest after the first `=`, which may contain more of them. */
function parsePair(entry: string): readonly [string, string] | null {
  const [, name, value] = /^([\w.-]{1,128})\s*=\s*(.+)$/.exec(entry) ?? [];
  return name === undefined || value === undefined ? null : [name, value];
}

/** `appId=secret`. */
function appSecret(entry: string): { appId: string; secret: string } | null {
  const pair = parsePair(entry);
  return pair === null ? null : { appId: pair[0], secret: pair[1] };
}

/** `appId=path of a PEM file`. */
function appFile(entry: string): { appId: string; file: string } | null {
  const pair = parsePair(entry);
  return pair === null ? null : { appId: pair[0], file: pair[1] };
}

const LEGACY_NAMES = ['issuer', 'audience', 'jwks', 'until'] as const;
const LEGACY_FORM = 'must be issuer=...,audience=...,jwks=http(s)://...,until=YYYY-MM-DD, each once';

/** `issuer=...,audience=...,jwks=URL,until=YYYY-MM-DD`; the day itself still counts (UTC). */
const legacyJwks = z.string().transform((value, context) => {
  const pairs = value.split(',').map((entry) => parsePair(entry.trim()));
  const values = new Map(pairs.flatMap((pair) => (pair === null ? [] : [pair])));
  const [issuer, audience, jwks, until] = LEGACY_NAMES.map((name) => values.get(name)?.trim());
  const end = /^\d{4}-\d\d-\d\d$/.test(until ?? '') ? Date.parse(`${until}T24:00:00Z`) : Number.NaN;
  const address = httpAddress.safeParse(jwks);
  const isComplete = pairs.length === LEGACY_NAMES.length && values.size === LEGACY_NAMES.length;
  if (!isComplete || !issuer || !audience || !address.success || Number.isNaN(end)) {
    context.addIssue({ code: 'custom', message: LEGACY_FORM });
    return z.NEVER;
  }
  return { issuer, audience, jwks: address.data, until: new Date(end) };
});

/** Parameters that the flow sets itself and no setting may. */
const OWN_PARAMETERS = new Set([
  'client_id',
  'client_secret',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'redirect_uri',
  'request',
  'request_uri',
  'response_mode',
  'response_type',
  'scope',
  'state',
]);

/** `name=value`, an extra parameter of the authorization request. */
function authorizeParameter(entry: string): readonly [string, string] | null {
  const pair = parsePair(entry);
  return pair === null || OWN_PARAMETERS.has(pair[0]) ? null : pair;
}

/**
 * Where browsers may be redirected after sign-in: an origin, or the scheme of an app. A scheme must contain a dot, as
 * RFC 8252 requires (com.example.app:), which excludes `javascript:` and the like.
 */
function redirectTarget(entry: string): string | null {
  const [, scheme] = /^([a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+):(?:\/\/)?$/i.exec(entry) ?? [];
  if (scheme !== undefined) return `${scheme.toLowerCase()}:`;
  const origin = browserOrigin(entry);
  return origin !== null && /^https?:/.test(origin) ? origin : null;
}

/** The sign-in settings, in the order of docs/settings.md. */
export const signInSettings = {
  IDP_ISSUER: real(
    issuerAddress,
    'issuer of the identity provider (OpenID Connect), exactly as its discovery document names it',
  ),
  IDP_CLIENT_ID: optional(text, 'client id of Kiln at the provider'),
  IDP_CLIENT_SECRET: optional(text, 'client secret; none for a public client'),
  IDP_CALLBACK_URL: optional(
    httpAddress,
    'redirect URI, as registered at the provider',
    'PUBLIC_URL/auth/idp/callback',
  ),
  IDP_AUTHORIZATION_URL: optional(
    httpAddress,
    'authorization endpoint of a provider without discovery (plain OAuth 2.0); all three addresses or none',
    'discovered',
  ),
  IDP_TOKEN_URL: optional(httpAddress, 'its token endpoint', 'discovered'),
  IDP_USERINFO_URL: optional(httpAddress, 'its userinfo endpoint, which must return a sub', 'discovered'),
  IDP_JWKS: optional(
    httpAddress,
    'address of its public keys: agents sign in at it, with access tokens for PUBLIC_URL/mcp (docs/mcp.md)',
    'agents have service keys',
  ),
  IDP_AUDIENCES: setting(
    list((entry) => entry, 'client ids'),
    'client ids of native apps whose ID tokens are accepted too, separated by commas',
    '',
  ),
  IDP_AUTHORIZE_PARAMETERS: setting(
    list(authorizeParameter, 'name=value that are none of the parameters of the flow itself'),
    'extra parameters of the authorization request: name=value, separated by commas (Google: access_type=offline,prompt=consent)',
    '',
  ),
  SIGN_IN_REDIRECTS: setting(
    list(redirectTarget, 'origins such as https://example.org and schemes such as com.example.app:'),
    'where browsers may be redirected after sign-in besides our own paths: exact origins and schemes of apps (com.example.app:), separated by commas',
    '',
  ),
  LEGACY_JWKS: optional(
    legacyJwks,
    'access tokens of a service that Kiln replaces name their users: issuer=...,audience=...,jwks=URL of its public keys,until=YYYY-MM-DD (docs/migrating.md)',
  ),
  WECHAT_APPS: real(
    list(appSecret, 'appId=secret'),
    'WeChat mini-programs that sign in here: appId=secret, separated by commas',
  ),
  WECHAT_BASE_URL: optional(httpAddress, 'base URL of the WeChat API', 'https://api.weixin.qq.com'),
  DOUYIN_APPS: real(
    list(appSecret, 'appId=secret'),
    'Douyin mini-programs: appId=secret, separated by commas',
  ),
  DOUYIN_BASE_URL: optional(httpAddress, 'base URL of the Douyin API', 'https://developer.toutiao.com'),
  ALIPAY_APPS: real(
    list(appFile, 'appId=path of a PEM file'),
    "Alipay mini-programs: appId=path of a PEM file, separated by commas; the file holds the app's private key and Alipay's public key for it",
  ),
  ALIPAY_BASE_URL: optional(
    httpAddress,
    'base URL of the Alipay gateway, without /gateway.do',
    'https://openapi.alipay.com',
  ),
};
