import { z } from 'zod';

import type { JsonObject } from '../../../../platform/json.ts';
import type { ProviderWebhook } from '../contract/provider.ts';

const challenge = z.object({ challenge: z.union([z.string().max(1_000), z.number()]) });

/** The vendor checks a callback_url before using it: its challenge must be echoed within three seconds. */
export function answerChallenge({ body }: ProviderWebhook): JsonObject | null {
  let json: unknown;
  try {
    json = JSON.parse(body.toString('utf8'));
  } catch {
    return null; // not a challenge
  }
  return challenge.safeParse(json).data ?? null;
}
