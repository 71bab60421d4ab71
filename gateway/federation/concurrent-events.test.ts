import type { ExecutionResult } from 'graphql';
import { expect, it } from 'vitest';

import type { ResultStream } from '../../platform/graphql/operations/executor.ts';
import { createPushStream } from '../../platform/graphql/operations/streams.ts';
import { joinAhead } from './concurrent-events.ts';
import { endable } from './ended-stream.ts';

/** Events 1 to `count`, and joins that end when the test says so. */
function joins(count: number, most: number) {
  const events = createPushStream<number>({ maxPending: 1_000, overflow: () => -1, onEnd: () => undefined });
  for (let event = 1; event <= count; event += 1) events.push(event);
  const ends = new Map<number, (value: string) => void>();
  const ahead = joinAhead(
    events.stream,
    (event) => new Promise<string>((resolve) => ends.set(event, resolve)),
    most,
  );
  const next = async () => {
    const item = await ahead.next();
    return item.done === true ? 'over' : await item.value.joined;
  };
  return { events, ends, next, ahead };
}

it('joins several at once, and gives them in their order', async () => {
  const { ends, next } = joins(3, 10);
  const answers = [next(), next(), next()];
  await expect.poll(() => ends.size).toBe(3);
  for (const event of [3, 1, 2]) ends.get(event)?.(`joined ${event}`);
  expect(await Promise.all(answers)).toEqual(['joined 1', 'joined 2', 'joined 3']);
});

it('takes no more than its bound from the source before they are read', async () => {
  const { ends, next } = joins(20, 4);
  const first = next();
  await expect.poll(() => ends.size).toBe(4);
  ends.get(1)?.('one');
  expect(await first).toBe('one');
  await new Promise((resolve) => setImmediate(resolve));
  expect(ends.size).toBe(4);
  const second = next();
  await expect.poll(() => ends.size).toBe(5);
  ends.get(2)?.('two');
  expect(await second).toBe('two');
});

it('takes no more for readers who came before the first event', async () => {
  const { events, ends, next } = joins(0, 4);
  const answers = [next(), next()];
  for (let event = 1; event <= 20; event += 1) events.push(event);
  await expect.poll(() => ends.size).toBe(4);
  await new Promise((resolve) => setImmediate(resolve));
  expect(ends.size).toBe(4);
  for (const event of [1, 2]) ends.get(event)?.(`joined ${event}`);
  expect(await Promise.all(answers)).toEqual(['joined 1', 'joined 2']);
});

it('goes on event by event where it may hold one', async () => {
  const { ends, next } = joins(3, 1);
  for (const event of [1, 2, 3]) {
    const answer = next();
    await expect.poll(() => ends.size).toBe(event);
    ends.get(event)?.(`joined ${event}`);
    expect(await answer).toBe(`joined ${event}`);
  }
});

it('is over when its reader leaves: for what was ready, for whoever waits, and for its source', async () => {
  const done = { value: undefined, done: true };
  let left = 0;
  const leave = async (): Promise<IteratorReturnResult<undefined>> => {
    left += 1;
    return { value: undefined, done: true };
  };
  const silent = { next: () => new Promise<never>(() => undefined), return: leave };
  const ahead = joinAhead<number, number>(silent, async (one) => one, 4);
  const waiting = [ahead.next(), ahead.next()];
  await ahead.return?.();
  expect([...(await Promise.all(waiting)), await ahead.next(), left]).toEqual([done, done, done, 1]);
  const { ends, ahead: other } = joins(20, 4);
  void other.next();
  await expect.poll(() => ends.size).toBe(4);
  await other.return?.();
  expect(await other.next()).toEqual(done);
});

it('ends with its source, and leaves it when its reader does', async () => {
  const { events, ends, next, ahead } = joins(1, 4);
  const [first, second] = [next(), next()];
  await expect.poll(() => ends.size).toBe(1);
  events.end();
  ends.get(1)?.('one');
  expect([await first, await second]).toEqual(['one', 'over']);
  const other = joins(0, 4);
  const pending = other.next();
  await other.ahead.return?.();
  expect(await pending).toBe('over');
  await ahead.return?.();
});

it('gives the failure of a source when its reader comes to it', async () => {
  const source = { next: () => Promise.reject(new Error('broken')) };
  const ahead = joinAhead<number, number>(source, async (one) => one, 4);
  const item = await ahead.next();
  await expect(item.value?.joined).rejects.toThrow('broken');
  expect(await ahead.next()).toEqual({ value: undefined, done: true });
});

it('gives a stream that is ended from outside its last result, also after what came and what failed before', async () => {
  const source = createPushStream<ExecutionResult>({
    maxPending: 1,
    overflow: () => ({}),
    onEnd: () => undefined,
  });
  const ends: string[] = [];
  const { stream, endWith } = endable(source.stream, () => void ends.push('ended'));
  const first = stream.next();
  source.push({ data: { at: 1 } });
  expect(await first).toEqual({ value: { data: { at: 1 } }, done: false });
  const [next, afterwards] = [stream.next(), stream.next()];
  for (const at of [2, 3]) endWith({ data: { at } });
  expect(await next).toEqual({ value: { data: { at: 2 } }, done: false });
  expect([await afterwards, await stream.next()]).toEqual([
    { value: undefined, done: true },
    { value: undefined, done: true },
  ]);
  expect(ends).toEqual(['ended']);

  const answers = [Promise.reject(new Error('lost')), new Promise<never>(() => undefined)];
  const failing = { next: () => answers.shift() } as unknown as ResultStream;
  const other = endable(failing, () => undefined);
  await expect(other.stream.next()).rejects.toThrow('lost');
  const waits = other.stream.next();
  other.endWith({ data: { at: 4 } });
  expect(await waits).toEqual({ value: { data: { at: 4 } }, done: false });
});
