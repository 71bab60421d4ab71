import type { ExecutionResult } from 'graphql';
import { describe, expect, it } from 'vitest';

import type { ResultStream } from '../../platform/graphql/operations/executor.ts';
import { createPushStream } from '../../platform/graphql/operations/streams.ts';
import { endable } from './ended-stream.ts';

function opened() {
  const said = { ends: 0, isLeft: false };
  const source = createPushStream<ExecutionResult>({
    maxPending: 10,
    overflow: () => ({}),
    onEnd: () => void (said.isLeft = true),
  });
  return { ...source, ...endable(source.stream, () => void (said.ends += 1)), said };
}

const result = (a: number): ExecutionResult => ({ data: { a } });
const given = (a: number) => ({ value: result(a), done: false });
const DONE = { value: undefined, done: true };

describe('a stream that can be ended from outside', () => {
  it('gives what comes, and ends with its source', async () => {
    const { stream, push, end, said } = opened();
    push(result(1));
    expect(await stream.next()).toEqual(given(1));
    end(result(2));
    expect([await stream.next(), await stream.next(), await stream.next()]).toEqual([given(2), DONE, DONE]);
    expect(said.ends).toBe(1);
  });

  it('gives its last result to the first who waits, and leaves its source at once', async () => {
    const { stream, push, endWith, said } = opened();
    const waiting = [stream.next(), stream.next()];
    endWith(result(9));
    endWith(result(10));
    push(result(1));
    expect([...(await Promise.all(waiting)), await stream.next()]).toEqual([given(9), DONE, DONE]);
    expect(said).toEqual({ ends: 1, isLeft: true });
  });

  it('keeps its last result for who comes, and for nobody who has left', async () => {
    const { stream, push, endWith } = opened();
    push(result(1));
    endWith(result(9));
    expect([await stream.next(), await stream.next()]).toEqual([given(9), DONE]);
    const left = opened();
    left.endWith(result(9));
    await left.stream.return?.();
    expect(await left.stream.next()).toEqual(DONE);
  });

  it('is over for all who wait when its reader leaves', async () => {
    const { stream, endWith, said } = opened();
    const waiting = stream.next();
    await stream.return?.();
    endWith(result(9));
    expect([await waiting, await stream.next()]).toEqual([DONE, DONE]);
    expect(said).toEqual({ ends: 1, isLeft: true });
  });
  it('is over for all who wait when its reader leaves a source that says nothing more', async () => {
    const silent = { next: () => new Promise<never>(() => undefined) } as unknown as ResultStream;
    const { stream } = endable(silent, () => undefined);
    const waiting = [stream.next(), stream.next()];
    await stream.return?.();
    expect(await Promise.all(waiting)).toEqual([DONE, DONE]);
  });
});
