import { expect, it } from 'vitest';

import { readOptions } from './options.ts';

it('runs every order unless one is named, and nothing that is none', () => {
  const { orders, minutes, pauseMs } = readOptions([]);
  expect([orders.length, minutes, pauseMs]).toEqual([4, 1, 300]);
  expect(readOptions(['--order', 'workflow first']).orders.map(([name]) => name)).toEqual(['workflow first']);
  // An upgrade that tried nothing would be called right.
  for (const words of [
    ['--order', 'gateway first'],
    ['--minutes', 'two'],
    ['--minutes', '0'],
    ['--pause', ''],
  ])
    expect(() => readOptions(words)).toThrow(words[0]);
});
