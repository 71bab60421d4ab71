import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';

/**
 * The proxy's result codes (ReturnCode.java of novicezk/midjourney-proxy): a submission is answered with HTTP 200 even
 * when it failed.
 */
export const CODE = {
  success: 1,
  notFound: 3,
  validation: 4,
  failure: 9,
  existed: 21,
  inQueue: 22,
  queueRejected: 23,
  bannedPrompt: 24,
} as const;

/** The answer to a submission or cancellation. */
export function submitResult(
  code: number,
  description: string,
  more: { readonly result?: string; readonly properties?: Readonly<Record<string, unknown>> } = {},
): Answer {
  return json({ code, description, result: more.result ?? null, properties: more.properties ?? {} });
}
