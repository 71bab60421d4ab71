import { describe, expect, it } from 'vitest';

import { createPromiseCache } from './promise-cache.ts';

const options = { ttlMs: 60_000, max: 2 };

/** Askings that the test answers itself, in the order they came. */
function askings() {
  const open: PromiseWithResolvers<string>[] = [];
  const ask = () => {
    const asking = Promise.withResolvers<string>();
    open.push(asking);
    return asking.promise;
  };
  return { open, ask };
}

describe('kept answers', () => {
  it('are asked for once, by whoever comes first', async () => {
    const { open, ask } = askings();
    const answers = createPromiseCache<string>(options);
    const asked = [answers.of('a', ask), answers.of('a', ask)];
    open[0]?.resolve('yes');
    expect(await Promise.all([...asked, answers.of('a', ask)])).toEqual(['yes', 'yes', 'yes']);
    expect(open).toHaveLength(1);
  });

  it.each([
    ['one', 'a'],
    ['all', undefined],
  ])('reach who waits while %s is forgotten, and nobody later', async (_, key) => {
    const { open, ask } = askings();
    const answers = createPromiseCache<string>(options);
    const early = answers.of('a', ask);
    answers.forget(key);
    const late = answers.of('a', ask);
    open[0]?.resolve('of then');
    open[1]?.resolve('of now');
    expect([await early, await late, await answers.of('a', ask)]).toEqual(['of then', 'of now', 'of now']);
  });

  it('are no failures', async () => {
    const { open, ask } = askings();
    const answers = createPromiseCache<string>(options);
    const failed = answers.of('a', ask);
    open[0]?.reject(new Error('away'));
    await expect(failed).rejects.toThrow('away');
    const again = answers.of('a', ask);
    open[1]?.resolve('yes');
    expect(await again).toBe('yes');
  });

  it('are as many as are allowed', async () => {
    const { open, ask } = askings();
    const answers = createPromiseCache<string>(options);
    for (const key of ['a', 'b', 'c', 'a']) void answers.of(key, ask);
    expect(open).toHaveLength(4);
  });
});
