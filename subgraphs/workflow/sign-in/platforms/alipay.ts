import { type KeyObject, sign, verify } from 'node:crypto';

import { z } from 'zod';

import type { HttpClient } from '../../../../platform/http/http-client.ts';
import type { Platform } from './platform.ts';
import {
  requestPlatform,
  requiredCode,
  platformError,
  withoutEmpty,
  subjectIn,
  type PlatformErrorKind,
} from './request.ts';

export interface AlipayOptions {
  readonly http: HttpClient;
  readonly apps: readonly {
    readonly appId: string;
    /** Signs our requests. */
    readonly privateKey: KeyObject;
    /** Alipay's public key for this app: proves its answers. */
    readonly platformKey: KeyObject;
  }[];
  /** Without a trailing slash, and without /gateway.do. */
  readonly baseUrl: string;
}

const NAME = 'alipay';
const NODE = 'alipay_system_oauth_token_response';
/** The gateway expects China Standard Time (no daylight saving). */
const CHINA_MS = 8 * 3_600_000;

/** Errors by their sub-code, else their code; any other is an outage. */
const REFUSALS: Readonly<Record<string, PlatformErrorKind>> = {
  'isv.code-invalid': 'code',
  'isv.unmatched-app-id': 'app',
  'isv.invalid-app-id': 'app',
  'isv.invalid-signature': 'app',
  'isv.missing-signature': 'app',
  'isv.missing-signature-key': 'app',
  'isv.insufficient-isv-permissions': 'app',
  'isv.app-call-limited': 'rate',
  'isv.method-call-limited': 'rate',
};

const refused = z.object({ code: z.union([z.string(), z.number()]), sub_code: z.string().optional() });

const granted = z.object({
  user_id: z.string().optional(),
  open_id: z.string().optional(),
  union_id: z.string().optional(),
  access_token: z.string().optional(),
  refresh_token: z.string().optional(),
});

const answer = z.object({
  error_response: refused.optional(),
  [NODE]: z.looseObject({}).optional(),
  sign: z.string().optional(),
});

/** Alipay's mini-programs (`alipay.system.oauth.token`): both sides sign. */
export function createAlipay({ http, apps, baseUrl }: AlipayOptions): Platform {
  const known = new Map(apps.map((app) => [app.appId, app]));
  return {
    name: NAME,
    appIds: [...known.keys()],
    async exchange({ appId, code }) {
      const app = known.get(appId);
      if (app === undefined) throw platformError(NAME, 'app', 'unknown app');
      const parameters = signedParameters(createRequest(appId, requiredCode(code)), app.privateKey);
      const { text, json } = await requestPlatform(http, NAME, {
        method: 'POST',
        url: `${baseUrl}/gateway.do`,
        headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
        body: new URLSearchParams(parameters).toString(),
      });
      const data = readAnswer(json, (signature) =>
        signedNode({ text, node: NODE, signature }, app.platformKey),
      );
      return {
        platform: NAME,
        appId,
        // Newer apps get an id of their own, older ones the account's number.
        subject: subjectIn(NAME, data.open_id, data.user_id),
        unionId: data.union_id || null,
        email: null,
        name: null,
        picture: null,
        secret: withoutEmpty({ access_token: data.access_token, refresh_token: data.refresh_token }),
      };
    },
  };
}

function createRequest(appId: string, code: string): Readonly<Record<string, string>> {
  const time = new Date(Date.now() + CHINA_MS).toISOString();
  return {
    app_id: appId,
    method: 'alipay.system.oauth.token',
    format: 'JSON',
    charset: 'utf-8',
    sign_type: 'RSA2',
    timestamp: time.slice(0, 19).replace('T', ' '),
    version: '1.0',
    grant_type: 'authorization_code',
    code,
  };
}

function readAnswer(
  json: unknown,
  signedText: (signature: string) => string | null,
): z.output<typeof granted> {
  const { success, data } = answer.safeParse(json);
  if (!success) throw platformError(NAME, 'outage', 'another form');
  const node = data[NODE];
  // An error comes in its own node, or in the method's. It grants nothing, so its signature is not checked.
  const { data: no } = refused.safeParse(data.error_response ?? node);
  if (no !== undefined && String(no.code) !== '10000') {
    const code = no.sub_code ?? String(no.code);
    throw platformError(NAME, REFUSALS[code] ?? 'outage', code);
  }
  const signed = signedText(data.sign ?? '');
  if (signed === null) throw platformError(NAME, 'outage', 'not signed by Alipay');
  const { data: facts } = granted.safeParse(JSON.parse(signed));
  if (facts === undefined) throw platformError(NAME, 'outage', 'another form');
  return facts;
}

/** Alipay's RSA2: RSA with SHA-256 over the raw text, not over reserialized JSON. Pure. */

/** Adds `sign` to the parameters of a request: over `name=value&...` sorted by name, unescaped. */
function signedParameters(
  parameters: Readonly<Record<string, string>>,
  key: KeyObject,
): Readonly<Record<string, string>> {
  const text = Object.keys(parameters)
    .toSorted()
    .map((name) => `${name}=${parameters[name] ?? ''}`)
    .join('&');
  return { ...parameters, sign: sign('sha256', Buffer.from(text), key).toString('base64') };
}

/** The raw text of the answer's node of this name, if its signature is valid. */
function signedNode(
  answer: { readonly text: string; readonly node: string; readonly signature: string },
  key: KeyObject,
): string | null {
  const signed = nodeText(answer.text, answer.node);
  if (signed === null) return null;
  const isSigned = verify('sha256', Buffer.from(signed), key, Buffer.from(answer.signature, 'base64'));
  return isSigned ? signed : null;
}

/**
 * The raw text of a top-level member of that name, which must be an object; null when there is none, or more than one. The
 * text must be valid JSON.
 */
export function nodeText(text: string, name: string): string | null {
  const found: string[] = [];
  let depth = 0;
  let start = -1;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      const isName = depth === 1 && text.slice(at, end + 1) === `"${name}"`;
      const value = isName ? /^\s*:\s*\{/.exec(text.slice(end + 1, end + 100)) : null;
      if (value !== null) start = end + value[0].length;
      at = end;
    } else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 1 && start >= 0) {
        found.push(text.slice(start, at + 1));
        start = -1;
      }
    }
  }
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** Index of a string's closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
