import { refusalCode } from './refusal.ts';

/** After these it is not known whether what was asked for has begun; the last two say nothing of what was asked before. */
const UNKNOWN: readonly (string | undefined)[] = [
  undefined,
  'UNREACHABLE',
  'UNAVAILABLE',
  'BAD_ANSWER',
  'INTERNAL',
  'RATE_LIMITED',
  'UNAUTHENTICATED',
];

/** Requests whose fate is not known, with their idempotency keys, the oldest first; bounded. */
const lost: { readonly request: string; readonly key: string }[] = [];
const MOST = 100;

/**
 * Sends a request that starts or buys something, with an idempotency key. Asked again after an answer that was lost, it has the
 * same key, so that nothing is started or paid twice; each other request, and one that was refused, has a key of its own.
 */
export async function sendOnce<Answer>(
  request: object,
  send: (key: string) => Promise<Answer>,
): Promise<Answer> {
  const text = JSON.stringify(request);
  const at = lost.findIndex((one) => one.request === text);
  const [before] = at === -1 ? [] : lost.splice(at, 1);
  const key = before?.key ?? crypto.randomUUID();
  try {
    return await send(key);
  } catch (error) {
    if (UNKNOWN.includes(refusalCode(error))) lost.push({ request: text, key });
    if (lost.length > MOST) lost.shift();
    throw error;
  }
}
