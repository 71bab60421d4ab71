import { setImmediate as immediate } from 'node:timers/promises';

import { expect, it } from 'vitest';

import { createBatchedWriter } from './batched-writer.ts';

/** A writer of words whose writes end when the test lets them; words with an exclamation mark can't be written. */
function createWriter({ most = 10, atOnce = 1 } = {}) {
  const writes: { words: readonly string[]; end: () => void }[] = [];
  const write = createBatchedWriter<string, number>({
    most,
    atOnce,
    toKey: (word) => word.slice(0, 1),
    async write(words) {
      await new Promise<void>((resolve) => writes.push({ words, end: resolve }));
      if (words.some((word) => word.endsWith('!'))) throw new Error(`not ${words.join(' ')}`);
      return words.map(({ length }) => length);
    },
  });
  return { write, words: () => writes.map((one) => one.words), end: (index: number) => writes[index]?.end() };
}

it('writes together what comes in one turn, and what comes while that is written', async () => {
  const { write, words, end } = createWriter();
  const first = [write('a'), write('bb')];
  await immediate();
  const later = [write('ccc'), write('dddd')];
  await immediate();
  expect(words()).toEqual([['a', 'bb']]);
  end(0);
  expect(await Promise.all(first)).toEqual([1, 2]);
  await immediate();
  expect(words()).toEqual([
    ['a', 'bb'],
    ['ccc', 'dddd'],
  ]);
  end(1);
  expect(await Promise.all(later)).toEqual([3, 4]);
});

it('keeps to its bounds: so many in a write, so many writes at once, and no key twice in one', async () => {
  const { write, words, end } = createWriter({ most: 2, atOnce: 2 });
  const all = ['a', 'aa', 'b', 'c', 'd', 'e'].map((word) => write(word));
  await immediate();
  expect(words()).toEqual([
    ['a', 'b'],
    ['aa', 'c'],
  ]);
  end(0);
  end(1);
  await immediate();
  await immediate();
  expect(words().slice(2)).toEqual([['d', 'e']]);
  end(2);
  expect(await Promise.all(all)).toEqual([1, 2, 1, 1, 1, 1]);
});

it('writes one that comes alone, and after it no more at once than before', async () => {
  const { write, words, end } = createWriter();
  const first = write('a');
  await immediate();
  end(0);
  expect(await first).toBe(1);
  const later = ['b', 'bb', 'bbb'].map((word) => write(word));
  for (const index of [1, 2, 3]) {
    await immediate();
    await immediate();
    expect(words().slice(1).flat()).toHaveLength(index);
    end(index);
  }
  expect(await Promise.all(later)).toEqual([1, 2, 3]);
});

it('writes each alone when they can not be written together, so that only what is at fault fails', async () => {
  const { write, words, end } = createWriter();
  const all = Promise.allSettled(['b!', 'cc'].map((word) => write(word)));
  await immediate();
  end(0);
  await immediate();
  expect(words().slice(1)).toEqual([['b!'], ['cc']]);
  for (const index of [1, 2]) end(index);
  expect(await all).toEqual([
    { status: 'rejected', reason: new Error('not b!') },
    { status: 'fulfilled', value: 2 },
  ]);
});
