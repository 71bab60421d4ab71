import { generateKeyPair, randomBytes, sign, verify, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

import { once } from '../../platform/once.ts';
import { json, type Answer } from '../http/answer.ts';
import type { Wire, WireRequest } from '../http/wire.ts';
import { createCodes, idFor, type Codes } from './codes.ts';

/** The stand-in's app. */
const ALIPAY_APP_ID = '2021000000000001';

/** Alipay's gateway with one method, and the keys of its app. */
export interface AlipayStandIn {
  readonly wire: Wire;
  readonly keys: () => Promise<AlipayKeys>;
}

/** What the app has of the platform. */
export interface AlipayKeys {
  /** The app's own key. */
  readonly privateKey: KeyObject;
  /** Alipay's public key for the app. */
  readonly platformKey: KeyObject;
}

const NODE = 'alipay_system_oauth_token_response';
const makePair = promisify(generateKeyPair);

/**
 * The keys are created at their first use, which few starts come to: finding them takes up to half a second. Kiln fetches
 * them at /keys, which the real platform does not have.
 */
export function createAlipayStandIn(): AlipayStandIn {
  const pairs = once(makePairs);
  const codes = createCodes();
  const keys = async (): Promise<AlipayKeys> => {
    const { app, platform } = await pairs();
    return { privateKey: app.privateKey, platformKey: platform.publicKey };
  };
  return {
    keys,
    wire: {
      name: 'alipay',
      mount: 'alipay',
      refuse: (status, message) => {
        if (status === 429) return refused('40004', 'Business Failed', 'isv.app-call-limited');
        if (status === 500) return refused('20000', 'Service Currently Unavailable', 'isp.unknow-error');
        return said(JSON.stringify({ message }), status);
      },
      routes: [
        {
          method: 'POST',
          path: '/gateway.do',
          operation: 'token',
          handle: async (request) => {
            const { app, platform } = await pairs();
            return answer({ codes, appKey: app.publicKey, ownKey: platform.privateKey }, request);
          },
        },
        {
          method: 'GET',
          path: '/keys',
          operation: 'keys',
          handle: async () => keysFor(await keys()),
        },
      ],
    },
  };
}

async function makePairs() {
  const pair = () => makePair('rsa', { modulusLength: 2_048 });
  const [app, platform] = await Promise.all([pair(), pair()]);
  return { app, platform };
}

/** The only value that each of these fields may have, and the code that refuses another one. */
const FIXED: Readonly<Record<string, readonly [string, string]>> = {
  format: ['JSON', 'isv.invalid-format'],
  charset: ['utf-8', 'isv.invalid-charset'],
  sign_type: ['RSA2', 'isv.invalid-signature-type'],
  version: ['1.0', 'isv.invalid-version'],
  grant_type: ['authorization_code', 'isv.grant-type-invalid'],
};

interface Gateway {
  readonly codes: Codes;
  readonly appKey: KeyObject;
  readonly ownKey: KeyObject;
}

function answer({ codes, appKey, ownKey }: Gateway, { body }: WireRequest): Answer {
  const { sign: signature = '', ...input } = Object.fromEntries(new URLSearchParams(body.toString('utf8')));
  if (input['method'] !== 'alipay.system.oauth.token') {
    return refused('40002', 'Invalid Arguments', 'isv.invalid-method');
  }
  for (const [name, [only, code]] of Object.entries(FIXED))
    if (input[name] !== only) return refused('40002', 'Invalid Arguments', code);
  if (input['app_id'] !== ALIPAY_APP_ID) return refused('40002', 'Invalid Arguments', 'isv.invalid-app-id');
  const signed = Object.keys(input)
    .toSorted()
    .map((name) => `${name}=${input[name] ?? ''}`)
    .join('&');
  const isTime = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(input['timestamp'] ?? '');
  if (!isTime) return refused('40002', 'Invalid Arguments', 'isv.invalid-timestamp');
  if (!verify('sha256', Buffer.from(signed), appKey, Buffer.from(signature, 'base64'))) {
    return refused('40002', 'Invalid Arguments', 'isv.invalid-signature');
  }
  const person = codes.take(ALIPAY_APP_ID, input['code'] ?? '');
  if (typeof person === 'string') return refused('40002', 'Invalid Arguments', 'isv.code-invalid');
  const token = () => `sandboxB${randomBytes(16).toString('hex')}`;
  // Blanks and an escaped slash: reserialized JSON would be another text with another signature.
  const node = JSON.stringify({
    access_token: token(),
    auth_start: '2026-01-01 00:00:00',
    expires_in: 1_296_000,
    re_expires_in: 2_592_000,
    refresh_token: token(),
    open_id: `0${idFor(`alipay ${ALIPAY_APP_ID}`, person).slice(0, 30)}/x`,
  })
    .replaceAll('/', String.raw`\/`)
    .replace('{', '{ ');
  const proof = sign('sha256', Buffer.from(node), ownKey).toString('base64');
  return said(`{"${NODE}":${node},"sign":"${proof}"}`);
}

function keysFor({ privateKey, platformKey }: AlipayKeys): Answer {
  return json({
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    platformKey: platformKey.export({ type: 'spki', format: 'pem' }),
  });
}

function refused(code: string, msg: string, sub_code: string): Answer {
  return said(JSON.stringify({ error_response: { code, msg, sub_code, sub_msg: sub_code } }));
}

function said(body: string, status = 200): Answer {
  return { status, headers: { 'content-type': 'text/html;charset=utf-8' }, body };
}
