import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import { describe, expect, it } from 'vitest';

import { drain, peek } from './streams.ts';

const bytes = (...texts: string[]) => texts.map((text) => Buffer.from(text));

/** A body that tells how many chunks were read of it, and whether it was let go. */
function body(texts: readonly string[], failure?: Error) {
  const seen = { read: 0, isLeft: false };
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (const chunk of bytes(...texts)) {
        seen.read += 1;
        yield chunk;
      }
      if (failure !== undefined) throw failure;
    } finally {
      seen.isLeft = true;
    }
  }
  return { seen, chunks: chunks() };
}

describe('a body that is drained', () => {
  it('is passed on chunk by chunk, each when the one before was taken', async () => {
    const { chunks, seen } = body(['a', 'b', 'c']);
    const taken: string[] = [];
    await drain(chunks, undefined, async (chunk) => {
      await Promise.resolve();
      taken.push(`${Buffer.from(chunk).toString()}${seen.read}`);
    });
    expect(taken).toEqual(['a1', 'b2', 'c3']);
  });

  it('is let go when it can not be taken, and its own failure is told', async () => {
    const { chunks, seen } = body(['a', 'b']);
    const refused = drain(chunks, undefined, () => Promise.reject(new Error('full')));
    await expect(refused).rejects.toThrow('full');
    expect(seen).toEqual({ read: 1, isLeft: true });
    await expect(drain(body(['a'], new Error('cut')).chunks, undefined, async () => {})).rejects.toThrow(
      'cut',
    );
    const readable = new Readable({ read: () => undefined });
    const { signal, abort } = aborting();
    const drained = drain(readable, signal, async () => {});
    abort();
    await expect(drained).rejects.toThrow('left');
    expect([readable.destroyed, getEventListeners(signal, 'abort')]).toEqual([true, []]);
  });

  it('is ended by an abort of before, and leaves nothing behind at its end', async () => {
    const { chunks, seen } = body(['a']);
    await expect(drain(chunks, AbortSignal.abort(new Error('left')), async () => {})).rejects.toThrow('left');
    expect(seen.read).toBe(0);
    const { signal } = aborting();
    await drain(body(['a']).chunks, signal, async () => {});
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

function aborting() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error('left')) };
}

describe('the beginning of a body', () => {
  it('is read as far as it is needed, and the whole is there afterwards', async () => {
    const { chunks, seen } = body(['ab', 'cd', 'ef', 'gh']);
    const { head, whole } = await peek(chunks, 3, undefined);
    expect([Buffer.from(head).toString(), seen.read]).toEqual(['abcd', 2]);
    expect((await buffer(whole)).toString()).toBe('abcdefgh');
    const short = await peek(body(['ab']).chunks, 3, undefined);
    expect([Buffer.from(short.head).toString(), (await buffer(short.whole)).toString()]).toEqual([
      'ab',
      'ab',
    ]);
    const none = body(['ab']);
    expect(Buffer.from((await peek(none.chunks, 0, undefined)).head)).toHaveLength(0);
    expect(none.seen.read).toBe(0);
  });

  it('lets the body go with its reader', async () => {
    const { chunks, seen } = body(['ab', 'cd', 'ef']);
    const { whole } = await peek(chunks, 1, undefined);
    for await (const chunk of whole) {
      expect(Buffer.from(chunk).toString()).toBe('ab');
      break;
    }
    expect(seen).toEqual({ read: 1, isLeft: true });
    const failing = body(['ab'], new Error('cut'));
    await expect(peek(failing.chunks, 10, undefined)).rejects.toThrow('cut');
  });
});
