import { Readable } from 'node:stream';

/**
 * Passes every chunk of a body to `take`, one at a time. An abort ends it at once, also while no chunk comes; then, and
 * when `take` fails, the body is abandoned.
 */
export async function drain(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
  take: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  // A new promise for each wait: racing against one long-lived promise would keep every chunk until the end.
  let cancel: (reason: unknown) => void = () => undefined;
  const onAbort = () => cancel(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const iterator = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      signal?.throwIfAborted();
      const result = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        cancel = reject;
        iterator.next().then(resolve, reject);
      });
      if (result.done === true) return;
      await take(result.value);
    }
  } catch (error) {
    abandon(body, iterator);
    throw error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/**
 * Ends a body that is not read any more. Not awaited: a generator answers `return()` only after its pending chunk, and
 * the first error counts.
 */
export function abandon(body: AsyncIterable<Uint8Array>, iterator: AsyncIterator<Uint8Array>): void {
  if (body instanceof Readable) body.destroy();
  void Promise.resolve(iterator.return?.()).catch(() => undefined);
}
