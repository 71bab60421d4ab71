import { z } from 'zod';

import { browserOrigin, httpAddress } from './formats.ts';

/** The forms of the settings of signing in. */

/** An issuer: an address kept to the letter, because a slash at its end makes it another one. */
export const issuerAddress = z.string().refine((value) => httpAddress.safeParse(value).success, {
  error: 'must be an http:// or https:// address without user name, query or fragment',
});

/** An app's id and what follows the first `=`, which may hold more of them. */
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

/** What the flow itself decides, and no setting may. */
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

/** `name=value` of an extra parameter of the authorization request. */
export function authorizeParameter(entry: string): readonly [string, string] | null {
  const pair = pairOf(entry);
  return pair === null || OWN_PARAMETERS.has(pair[0]) ? null : pair;
}

/**
 * Where browsers may be sent after signing in: an origin, or the scheme of an app. A scheme has a dot, as RFC 8252 wants
 * it (com.example.app:), which `javascript:` and its kind have not.
 */
export function redirectTarget(entry: string): string | null {
  const [, scheme] = /^([a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+):(?:\/\/)?$/i.exec(entry) ?? [];
  if (scheme !== undefined) return `${scheme.toLowerCase()}:`;
  const origin = browserOrigin(entry);
  return origin !== null && /^https?:/.test(origin) ? origin : null;
}
