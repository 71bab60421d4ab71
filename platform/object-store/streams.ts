import { Readable } from 'node:stream';

/** A body that fails with errors of the reader's own. Closing it closes the original, also when nothing was read. */
export function withErrors(body: Readable, toOwn: (error: unknown) => Error): Readable {
  const chunks = async function* () {
    try {
      yield* body;
    } catch (error) {
      throw toOwn(error);
    }
  };
  return Readable.from(chunks(), { objectMode: false }).once('close', () => body.destroy());
}

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
function abandon(body: AsyncIterable<Uint8Array>, iterator: AsyncIterator<Uint8Array>): void {
  if (body instanceof Readable) body.destroy();
  void Promise.resolve(iterator.return?.()).catch(() => undefined);
}

/** A body whose first bytes were read without consuming it. */
interface Peeked {
  /** At least as many bytes as requested, unless the body is shorter. */
  readonly head: Uint8Array;
  /** The body from its first byte, to be read once, instead of the original. */
  readonly whole: AsyncIterable<Uint8Array>;
}

/** Reads the beginning of a body. An abort, or a failure of the body, ends it as in `drain`. */
export async function peek(
  body: AsyncIterable<Uint8Array>,
  atLeast: number,
  signal: AbortSignal | undefined,
): Promise<Peeked> {
  const source = body[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const iterable = (next: () => Promise<IteratorResult<Uint8Array>>): AsyncIterable<Uint8Array> => ({
    [Symbol.asyncIterator]: () => ({
      next,
      return: async () => {
        abandon(body, source);
        return { done: true, value: undefined };
      },
    }),
  });
  const beginning = iterable(async () =>
    bytes < atLeast ? source.next() : { done: true, value: undefined },
  );
  await drain(beginning, signal, async (chunk) => {
    bytes += chunk.byteLength;
    chunks.push(chunk);
  });
  const head = Buffer.concat(chunks);
  const whole = iterable(async () => {
    const value = chunks.shift();
    return value === undefined ? source.next() : { done: false, value };
  });
  return { head, whole };
}
