import type { ExecutionResult } from 'graphql';

import type { ResultStream } from '../../platform/graphql/operations/executor.ts';
import { createStream } from '../../platform/graphql/operations/streams.ts';

/** A stream that can be ended from outside with a last result. */
export interface EndableStream {
  readonly stream: ResultStream;
  /** Gives this result instead of what would come next, and leaves the source. */
  readonly endWith: (last: ExecutionResult) => void;
}

const DONE = { value: undefined, done: true } as const;

/** Makes a stream endable; `onEnd` is called once, whatever ended it. */
export function endable(source: ResultStream, onEnd: () => void): EndableStream {
  /** Of who waits for what comes next. */
  const waiting = new Set<(item: IteratorResult<ExecutionResult>) => void>();
  let last: ExecutionResult | null = null;
  let isOver = false;

  const finish = (): void => {
    if (isOver) return;
    isOver = true;
    onEnd();
  };
  const endWith = (result: ExecutionResult): void => {
    if (isOver) return;
    finish();
    const [first, ...others] = waiting;
    waiting.clear();
    if (first === undefined) last = result;
    else first({ value: result, done: false });
    for (const resolve of others) resolve(DONE);
    void source.return?.();
  };
  const over = (): Promise<IteratorResult<ExecutionResult>> => {
    const value = last;
    last = null;
    return Promise.resolve(value === null ? DONE : { value, done: false });
  };
  const next = (): Promise<IteratorResult<ExecutionResult>> => {
    if (isOver) return over();
    const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<ExecutionResult>>();
    waiting.add(resolve);
    source
      .next()
      .finally(() => waiting.delete(resolve))
      .then((item) => {
        if (item.done === true) finish();
        resolve(item);
      }, reject);
    return promise;
  };
  const leave = (): void => {
    last = null;
    finish();
    for (const resolve of waiting) resolve(DONE);
    waiting.clear();
    void source.return?.();
  };
  return { stream: createStream(next, leave), endWith };
}
