import { createHash } from 'node:crypto';

import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { z } from 'zod';

import type { CallContext, ProviderWebhook } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { createSignatureCheck, isRecent } from '../shared/signed-webhook.ts';
import { read, throwRefusal } from './wire.ts';

const secret = z.object({ key: z.string().startsWith('whsec_') });

/**
 * Creates the verification of Replicate's signature (Standard Webhooks) with the account's secret, which the API
 * returns. Throws UpstreamError when the secret can't be fetched.
 */
export function webhookCheck(
  exchange: Exchange,
): (webhook: ProviderWebhook, context: CallContext) => Promise<boolean> {
  const check = createSignatureCheck<Webhook>();
  return async (webhook, context) => {
    if (!isRecent(webhook.headers['webhook-timestamp'])) return false;
    const { baseUrl, headers } = context.connection;
    // The cache key is a hash, so that no token is used as a key.
    const account = createHash('sha256')
      .update(JSON.stringify([baseUrl, headers]))
      .digest('hex');
    return check({
      account,
      fetch: () => fetchSecret(exchange, context),
      matches: (signer) => isSigned(webhook, signer),
    });
  };
}

function isSigned({ headers, body }: ProviderWebhook, signer: Webhook): boolean {
  try {
    signer.verify(body, { ...headers });
    return true;
  } catch (error) {
    // A signed body that is not JSON is a SyntaxError: Replicate sends JSON only.
    if (error instanceof WebhookVerificationError || error instanceof SyntaxError) return false;
    throw error;
  }
}

async function fetchSecret(exchange: Exchange, context: CallContext): Promise<Webhook> {
  const answer = await exchange(context, { method: 'GET', path: '/webhooks/default/secret', retry: 'safe' });
  throwRefusal(answer, 'account');
  return new Webhook(read(secret, answer, 'a secret').key);
}
