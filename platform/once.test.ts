import { describe, expect, it } from 'vitest';

import { once } from './once.ts';

/** Gives its attempts' outcomes one after the other: a value, or an error to be thrown. */
function outcomes(...list: readonly unknown[]) {
  let calls = 0;
  return {
    calls: () => calls,
    next: () => {
      const outcome = list[calls];
      calls += 1;
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
  };
}

describe('what is made once', () => {
  it('is made at the first call, also when it is nothing', () => {
    const { calls, next } = outcomes(undefined, 'another');
    const give = once(next);
    expect([calls(), give.kept()]).toEqual([0, undefined]);
    expect([give(), give(), calls()]).toEqual([undefined, undefined, 1]);
  });

  it('is shared by those who ask while it is being made, and can be seen by who closes it', async () => {
    const { calls, next } = outcomes('server');
    const start = once(async () => next());
    const [first, second] = [start(), start()];
    expect(first).toBe(second);
    expect(start.kept()).toBe(first);
    expect([await first, calls()]).toEqual(['server', 1]);
  });

  it.each([
    ['throws', (next: () => unknown) => once(next)],
    ['rejects', (next: () => unknown) => once(async () => next())],
  ])('is made anew after a first attempt that %s', async (_how, onceOf) => {
    const { next } = outcomes(new Error('no files left'), 'server');
    const start = onceOf(next);
    await expect((async () => start())()).rejects.toThrow('no files left');
    expect(start.kept()).toBeUndefined();
    expect([await start(), await start()]).toEqual(['server', 'server']);
  });
});
