import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto';

import { z } from 'zod';

import type { CallContext, ProviderWebhook } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { isRecent, keepKeys } from '../shared/signed-webhook.ts';
import { restContext } from './storage.ts';
import { read, throwRefusal } from './wire.ts';

const MAX_KEYS = 20;
const keySet = z.object({
  keys: z.array(z.object({ kty: z.string(), crv: z.string().optional(), x: z.string().optional() })),
});

/**
 * Makes the check of fal's signature: Ed25519 over request id, user id, time and the hash of the body, by any of the keys
 * that fal publishes. Throws UpstreamError when those can't be had.
 */
export function webhookCheck(
  exchange: Exchange,
): (notice: ProviderWebhook, context: CallContext) => Promise<boolean> {
  const kept = keepKeys<readonly KeyObject[]>();
  return async (notice, context) => {
    const signed = signedPart(notice);
    if (signed === null) return false;
    const rest = restContext(context);
    const fetch = () => publishedKeys(exchange, rest);
    const account = rest.connection.baseUrl;
    if (isSigned(signed, await kept.get(account, fetch))) return true;
    const renewed = await kept.renewed(account, fetch);
    return renewed !== null && isSigned(signed, renewed);
  };
}

interface Signed {
  readonly message: Buffer;
  readonly signature: Buffer;
}

function signedPart({ headers, body }: ProviderWebhook): Signed | null {
  const requestId = headers['x-fal-webhook-request-id'];
  const userId = headers['x-fal-webhook-user-id'];
  const timestamp = headers['x-fal-webhook-timestamp'];
  const signature = headers['x-fal-webhook-signature'];
  if (!requestId || !userId || !timestamp || !isRecent(timestamp)) return null;
  if (signature === undefined || !/^[0-9a-f]{128}$/i.test(signature)) return null;
  const hash = createHash('sha256').update(body).digest('hex');
  return {
    message: Buffer.from([requestId, userId, timestamp, hash].join('\n')),
    signature: Buffer.from(signature, 'hex'),
  };
}

function isSigned({ message, signature }: Signed, keys: readonly KeyObject[]): boolean {
  return keys.some((key) => verify(null, message, key, signature));
}

async function publishedKeys(exchange: Exchange, context: CallContext): Promise<readonly KeyObject[]> {
  const { connection } = context;
  // They are public: nobody needs to know who asks.
  const answer = await exchange(
    { ...context, connection: { ...connection, headers: {} } },
    { method: 'GET', path: '/.well-known/jwks.json', retry: 'safe', maxBytes: 64 * 1024 },
  );
  throwRefusal(answer, 'file');
  const { keys } = read(keySet, answer, 'a set of keys');
  const own = keys.filter(({ kty, crv, x }) => kty === 'OKP' && crv === 'Ed25519' && x !== undefined);
  return own
    .slice(0, MAX_KEYS)
    .map(({ x = '' }) => createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }));
}
