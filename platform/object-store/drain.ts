import { Readable } from 'node:stream';

/**
 * Hands every chunk of a body to `take`, one at a time. An abort ends it at once, also while the body is silent; then,
 * and when `take` fails, the body is let go.
 */
export async function drain(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
  take: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  // Without a chunk under way nobody waits for it; an abort must not count as unhandled then.
  aborted.promise.catch(() => undefined);
  const onAbort = () => aborted.reject(signal?.reason);
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const iterator = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const result = await Promise.race([aborted.promise, iterator.next()]);
      if (result.done === true) return;
      await take(result.value);
    }
  } catch (error) {
    letGo(body, iterator);
    throw error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Ends a body that nobody reads any more. Not awaited: a silent generator answers `return()` only after its pending chunk. The first error is the one that counts. */
export function letGo(body: AsyncIterable<Uint8Array>, iterator: AsyncIterator<Uint8Array>): void {
  if (body instanceof Readable) body.destroy();
  void Promise.resolve(iterator.return?.()).catch(() => undefined);
}
