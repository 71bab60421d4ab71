import type { FaceCall } from '../table/route.ts';

/** Which task a repeated call joins. OpenAI's SDKs send a call again when its connection breaks, without a key. */

/** Variables of everything that starts work. */
export interface Joining {
  readonly idempotencyKey?: string;
  readonly joinSeconds?: number;
}

/** Seconds in which the same call of clients that count no tries is taken for a repeated one, while its work goes on. */
const WINDOW_SECONDS = 60;

/** Says that a call is never taken for a repeated one: `never`. */
const JOIN_HEADER = 'x-kiln-join';

/**
 * What the same caller sends again joins what it started: a counted retry whatever became of it, any other call within a
 * minute only running work. Chats are often asked the same on purpose: a counted first try begins a new one.
 */
export function readJoining(
  { request, context }: Pick<FaceCall, 'request' | 'context'>,
  content: string,
  { isChat = false }: { readonly isChat?: boolean } = {},
): Joining {
  const { headers } = request;
  const own = headers['idempotency-key'];
  if (typeof own === 'string' && own.trim() !== '') return { idempotencyKey: own.trim() };
  if (headers[JOIN_HEADER] === 'never') return isChat ? { idempotencyKey: context.caller.traceId } : {};
  const idempotencyKey = `openai:${content}`;
  const tries = Number(headers['x-stainless-retry-count']);
  if (tries > 0) return { idempotencyKey };
  return { idempotencyKey, joinSeconds: isChat && tries === 0 ? 0 : WINDOW_SECONDS };
}
