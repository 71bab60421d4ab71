import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { leavableStream, watchVersions } from './watch-versions.ts';

/** A row that is watched, on a bus whose wake-ups the test sends. */

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const endOfTurn = () => new Promise((resolve) => setImmediate(resolve));

it('is read again when the bus may have missed something, without the wait for a wake-up', async () => {
  const calls = { wake: (_key: string, _version: number) => {}, gap: () => {} };
  const removed: string[] = [];
  const bus = {
    listen(_topic: string, listener: typeof calls.wake) {
      calls.wake = listener;
      return () => void removed.push('wake');
    },
    onGap(listener: () => void) {
      calls.gap = listener;
      return () => void removed.push('gap');
    },
  };
  const row = { version: 1 };
  const { signal } = new AbortController();
  const read = async () => ({ ...row });
  const rows = watchVersions({ bus: bus as never, topic: 'row', id: 'one', read, signal });
  expect(await rows.next()).toMatchObject({ value: { version: 1 } });
  const seen: unknown[] = [];
  const next = async () => seen.push((await rows.next()).value);

  row.version = 2;
  void next();
  calls.wake('another', 2);
  await endOfTurn();
  expect(seen).toEqual([]);
  calls.gap();
  await endOfTurn();
  expect(seen).toEqual([{ version: 2 }]);

  row.version = 3;
  void next();
  calls.wake('one', 3);
  await endOfTurn();
  expect(seen).toEqual([{ version: 2 }, { version: 3 }]);
  await rows.return(undefined);
  expect(removed).toEqual(['wake', 'gap']);
});

it('is let go of by who leaves between two values', async () => {
  const ended: string[] = [];
  async function* values(name: string) {
    try {
      yield 1;
      yield 2;
    } finally {
      ended.push(name);
    }
  }
  const { signal } = new AbortController();
  const left = leavableStream(signal, () => values('left'));
  expect(await left.next()).toEqual({ value: 1, done: false });
  await left.return?.();
  const hungUp = new AbortController();
  const cut = leavableStream(hungUp.signal, () => values('cut'));
  await cut.next();
  hungUp.abort();
  await endOfTurn();
  expect(ended).toEqual(['left', 'cut']);
  expect(await left.next()).toEqual({ value: undefined, done: true });
});
