import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto';

import { z } from 'zod';

import type { CallContext, ProviderWebhook } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { listOf } from '../shared/reader.ts';
import { createSignatureCheck, isRecent } from '../shared/signed-webhook.ts';
import { restContext } from './storage.ts';
import { read, throwRefusal } from './wire.ts';

const MAX_KEYS = 20;
const keySet = z.object({
  keys: listOf(z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string() })),
});

/**
 * Creates the verification of fal's signature: Ed25519 over request id, user id, time and the hash of the body, by any
 * of the keys that fal publishes. Throws UpstreamError when the keys can't be fetched.
 */
export function webhookCheck(
  exchange: Exchange,
): (webhook: ProviderWebhook, context: CallContext) => Promise<boolean> {
  const check = createSignatureCheck<readonly KeyObject[]>();
  return async (webhook, context) => {
    const signed = signedPart(webhook);
    if (signed === null) return false;
    const rest = restContext(context);
    return check({
      account: rest.connection.baseUrl,
      fetch: () => publishedKeys(exchange, rest),
      matches: (keys) => isSigned(signed, keys),
    });
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
  // The keys are public: no credentials needed.
  const answer = await exchange(
    { ...context, connection: { ...connection, headers: {} } },
    { method: 'GET', path: '/.well-known/jwks.json', retry: 'safe', maxBytes: 64 * 1024 },
  );
  throwRefusal(answer, 'file');
  const { keys } = read(keySet, answer, 'a set of keys');
  return keys.slice(0, MAX_KEYS).flatMap(publicKey);
}

/** One that is no key does not hide the others. */
function publicKey(key: { readonly kty: string; readonly crv: string; readonly x: string }): KeyObject[] {
  try {
    return [createPublicKey({ key, format: 'jwk' })];
  } catch {
    return [];
  }
}
