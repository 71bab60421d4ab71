import { z } from 'zod';

import { browserOrigin, httpAddress } from './formats.ts';

/** Formats of the sign-in settings. */

/** An issuer, kept exactly: with a trailing slash it is another one. */
export const issuerAddress = z.string().refine((value) => httpAddress.safeParse(value).success, {
  error: 'must be an http:// or https:// address without user name, query or fragment',
});

/** An app's id and the rest after the first `=`, which may contain more of them. */
function pairOf(entry: string): readonly [string, string] | null {
  const [, name, value] = /^([\w.-]{1,128})\s*=\s*(.+)$/.exec(entry) ?? [];
  return name === undefined || value === undefined ? null : [name, value];
}

/** `appId=secret`. */
export function appSecret(entry: string): { appId: string; secret: string } | null {
  const pair = pairOf(entry);
  return pair === null ? null : { appId: pair[0], secret: pair[1] };
}

/** `appId=path of a PEM file`. */
export function appFile(entry: string): { appId: string; file: string } | null {
  const pair = pairOf(entry);
  return pair === null ? null : { appId: pair[0], file: pair[1] };
}

const LEGACY_NAMES = ['issuer', 'audience', 'jwks', 'until'] as const;
const LEGACY_FORM = 'must be issuer=...,audience=...,jwks=http(s)://...,until=YYYY-MM-DD, each once';

/** `issuer=...,audience=...,jwks=URL,until=YYYY-MM-DD`; the day itself still counts (UTC). */
export const legacyJwks = z.string().transform((value, context) => {
  const pairs = value.split(',').map((entry) => pairOf(entry.trim()));
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
export function authorizeParameter(entry: string): readonly [string, string] | null {
  const pair = pairOf(entry);
  return pair === null || OWN_PARAMETERS.has(pair[0]) ? null : pair;
}

/**
 * Where browsers may be redirected after sign-in: an origin, or the scheme of an app. A scheme must contain a dot, as
 * RFC 8252 requires (com.example.app:), which excludes `javascript:` and the like.
 */
export function redirectTarget(entry: string): string | null {
  const [, scheme] = /^([a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+):(?:\/\/)?$/i.exec(entry) ?? [];
  if (scheme !== undefined) return `${scheme.toLowerCase()}:`;
  const origin = browserOrigin(entry);
  return origin !== null && /^https?:/.test(origin) ? origin : null;
}
