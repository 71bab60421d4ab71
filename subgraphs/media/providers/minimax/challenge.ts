import { z } from 'zod';

import type { JsonObject } from '../../../../platform/json.ts';
import type { ProviderWebhook } from '../contract/provider.ts';

const challenge = z.object({ challenge: z.union([z.string().max(1_000), z.number()]) });

/** The vendor tries a callback_url before it uses it: the challenge it sends is to be echoed within three seconds. */
export function answerChallenge({ body }: ProviderWebhook): JsonObject | null {
  let json: unknown;
  try {
    json = JSON.parse(body.toString('utf8'));
  } catch {
    return null; // no challenge, then
  }
  return challenge.safeParse(json).data ?? null;
}
