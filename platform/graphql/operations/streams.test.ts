import { type ExecutionResult, GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';

import {
  createPushStream,
  isEndOfStream,
  isStream,
  mapStream,
  type Stream,
  throwingAtItsEnd,
} from './streams.ts';

function source(maxPending = 10) {
  let isLeft = false;
  const pushed = createPushStream<number>({
    maxPending,
    overflow: () => -1,
    onEnd: () => (isLeft = true),
  });
  return { ...pushed, isLeft: () => isLeft };
}

function mapped(input: Stream<number>, options: { signals?: AbortSignal[]; onEnd?: () => void } = {}) {
  return mapStream<number, string>({
    source: input,
    map(value) {
      if (value === 13) throw new Error('unlucky');
      return `<${value}>`;
    },
    failed: (thrown) => `failed: ${(thrown as Error).message}`,
    ...options,
  });
}

const DONE = { value: undefined, done: true };

describe('a mapped stream', () => {
  it('maps what comes, in order, and ends with its source', async () => {
    const { stream, push, end } = source();
    push(1);
    push(2);
    end(3);
    const seen: string[] = [];
    for await (const value of mapped(stream)) seen.push(value);
    expect(seen).toEqual(['<1>', '<2>', '<3>']);
  });

  it('says once that its source has ended, and asks it for nothing more', async () => {
    let [asked, ends] = [0, 0];
    const input = {
      async next() {
        asked += 1;
        return asked === 1 ? { value: 1, done: false } : DONE;
      },
    } as unknown as Stream<number>;
    const output = mapped(input, { onEnd: () => (ends += 1) });
    expect([await output.next(), ends]).toEqual([{ value: '<1>', done: false }, 0]);
    expect([await output.next(), ends]).toEqual([DONE, 1]);
    expect([await output.next(), ends, asked]).toEqual([DONE, 1, 2]);
  });

  it('leaves its source in the same tick, and answers the pending next', async () => {
    const { stream, isLeft } = source();
    const output = mapped(stream);
    const pending = output.next();
    const left = output.return();
    expect(isLeft()).toBe(true);
    expect([await pending, await left, await output.next()]).toEqual([DONE, DONE, DONE]);
  });

  it('leaves a source that never answers, without waiting for it', async () => {
    async function* stuck(): AsyncGenerator<number> {
      await new Promise(() => {});
      yield 1;
    }
    const output = mapStream<number, number>({ source: stuck(), map: (value) => value, failed: () => 0 });
    const pending = output.next();
    await output.return();
    expect((await pending).done).toBe(true);
  });

  it('gives what failed as its last value, and leaves the source', async () => {
    const { stream, push, isLeft } = source();
    push(13);
    push(14);
    const output = mapped(stream);
    expect(await output.next()).toEqual({ value: 'failed: unlucky', done: false });
    expect(isLeft()).toBe(true);
    expect((await output.next()).done).toBe(true);
  });

  it('ends once, by whichever signal comes first', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const { stream, isLeft } = source();
    let ends = 0;
    const output = mapped(stream, { signals: [first.signal, second.signal], onEnd: () => (ends += 1) });
    const pending = output.next();
    second.abort();
    first.abort();
    expect((await pending).done).toBe(true);
    expect([ends, isLeft()]).toEqual([1, true]);
  });

  it('is over at once when its signal was aborted before', async () => {
    const { stream, isLeft } = source();
    const output = mapped(stream, { signals: [AbortSignal.abort()] });
    expect((await output.next()).done).toBe(true);
    expect(isLeft()).toBe(true);
  });

  it('leaves its source when an error is thrown into it', async () => {
    const { stream, isLeft } = source();
    await expect(mapped(stream).throw(new Error('away'))).rejects.toThrow('away');
    expect(isLeft()).toBe(true);
  });
});

describe('a fed stream', () => {
  it('hands values to whoever waits, and keeps the others', async () => {
    const { stream, push } = source();
    const waiting = stream.next();
    push(1);
    push(2);
    expect((await waiting).value).toBe(1);
    expect((await stream.next()).value).toBe(2);
  });

  it('ends with a word when its reader is too slow', async () => {
    const { stream, push, isLeft } = source(2);
    for (const value of [1, 2, 3, 4]) push(value);
    expect(isLeft()).toBe(true);
    const seen: number[] = [];
    for await (const value of stream) seen.push(value);
    expect(seen).toEqual([1, 2, -1]);
  });

  it('forgets what is left when its reader leaves', async () => {
    const { stream, push } = source();
    push(1);
    await stream.return();
    push(2);
    expect((await stream.next()).done).toBe(true);
  });
});

describe('the results of a stream', () => {
  const gone = { errors: [new GraphQLError('gone')] };

  it('are of events, but for one that has errors and no data', () => {
    const results: readonly ExecutionResult[] = [{ data: {} }, { data: null, ...gone }, gone, {}];
    expect(results.map(isEndOfStream)).toEqual([false, false, true, false]);
  });

  it('are a stream, or one result that refuses it', () => {
    expect([
      isStream(gone as ExecutionResult),
      isStream(createPushStream({ maxPending: 1, overflow: () => gone, onEnd: () => undefined }).stream),
    ]).toEqual([false, true]);
  });

  it.each([
    [gone, 'gone'],
    [{ errors: [] }, 'a stream ended with errors, and names none'],
  ])('end by throwing where a protocol has a word for that: %j', async (last, message) => {
    let ends = 0;
    const { stream, push } = createPushStream<ExecutionResult>({
      maxPending: 9,
      overflow: () => gone,
      onEnd: () => (ends += 1),
    });
    const throwing = throwingAtItsEnd(stream);
    const event = { data: null, ...gone };
    for (const result of [event, last, event]) push(result);
    expect(await throwing.next()).toEqual({ value: event, done: false });
    expect(ends).toBe(0);
    await expect(throwing.next()).rejects.toThrow(message);
    expect(ends).toBe(1);
    expect(await throwing.next()).toEqual(DONE);
  });

  it('are left with the stream that throws at its end', async () => {
    let ends = 0;
    const { stream } = createPushStream<ExecutionResult>({
      maxPending: 9,
      overflow: () => gone,
      onEnd: () => (ends += 1),
    });
    expect(await throwingAtItsEnd(stream).return()).toEqual(DONE);
    expect(ends).toBe(1);
  });
});
