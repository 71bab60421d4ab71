import { createHash } from 'node:crypto';

import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { z } from 'zod';

import type { CallContext, ProviderWebhook } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { isRecent, keepKeys } from '../shared/signed-webhook.ts';
import { read, throwRefusal } from './wire.ts';

const secret = z.object({ key: z.string().startsWith('whsec_') });

/**
 * Makes the check of Replicate's signature (Standard Webhooks) with the account's own secret, which the API tells. Throws
 * UpstreamError when that can't be had.
 */
export function webhookCheck(
  exchange: Exchange,
): (notice: ProviderWebhook, context: CallContext) => Promise<boolean> {
  const kept = keepKeys<Webhook>();
  return async (notice, context) => {
    if (!isRecent(notice.headers['webhook-timestamp'])) return false;
    const { baseUrl, headers } = context.connection;
    // The secret is the account's, and an account is known by its token; tokens are not kept as names.
    const account = createHash('sha256')
      .update(JSON.stringify([baseUrl, headers]))
      .digest('hex');
    const fetch = () => signerOf(exchange, context);
    if (isSigned(notice, await kept.get(account, fetch))) return true;
    const renewed = await kept.renewed(account, fetch);
    return renewed !== null && isSigned(notice, renewed);
  };
}

function isSigned({ headers, body }: ProviderWebhook, signer: Webhook): boolean {
  try {
    signer.verify(body, { ...headers });
    return true;
  } catch (error) {
    // A signed body that is no JSON is a SyntaxError: nothing that Replicate sends.
    if (error instanceof WebhookVerificationError || error instanceof SyntaxError) return false;
    throw error;
  }
}

async function signerOf(exchange: Exchange, context: CallContext): Promise<Webhook> {
  const answer = await exchange(context, { method: 'GET', path: '/webhooks/default/secret', retry: 'safe' });
  throwRefusal(answer, 'account');
  return new Webhook(read(secret, answer, 'a secret').key);
}
