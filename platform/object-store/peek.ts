import { drain, abandon } from './drain.ts';

/** A body whose first bytes were read without consuming it. */
export interface Peeked {
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
