import { setImmediate as immediate } from 'node:timers/promises';

import { expect, it } from 'vitest';

import { createPollRounds } from './poller.ts';

/** Rounds over so many due attempts, which are asked until the test lets them answer. */
function roundsOver(due: number[], slots: number) {
  const asked: { number: number; answer: (next: number | null) => void; fail: () => void }[] = [];
  const written: number[][] = [];
  const leases: number[] = [];
  const failed: number[] = [];
  let wakes = 0;
  let isWriting = true;
  const rounds = createPollRounds<number, number>({
    slots,
    async lease(limit) {
      leases.push(limit);
      return due.splice(0, limit);
    },
    ask: (number) =>
      new Promise((answer, reject) => asked.push({ number, answer, fail: () => reject(new Error('no')) })),
    async write(next) {
      if (!isWriting) throw new Error('no database');
      written.push([...next]);
    },
    failed: (_thrown, number) => void failed.push(number),
    wake: () => void (wakes += 1),
  });
  const refuse = (refused: boolean) => void (isWriting = !refused);
  return { rounds, asked, leases, written, failed, wakes: () => wakes, refuse };
}

it('takes as many as slots are free, and looks for more when half of them are free again', async () => {
  const due = Array.from({ length: 10 }, (_, index) => index);
  const { rounds, asked, leases, wakes } = roundsOver(due, 4);
  await rounds.tick();
  await rounds.tick();
  expect(asked.map(({ number }) => number)).toEqual([0, 1, 2, 3]);
  asked[0]?.answer(null);
  await immediate();
  expect(wakes()).toBe(0);
  asked[1]?.answer(null);
  await immediate();
  expect(wakes()).toBe(1);
  await rounds.tick();
  expect(asked.map(({ number }) => number)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(leases).toEqual([4, 2]);
});

it('writes next times together, and again when writing has failed', async () => {
  const { rounds, asked, written, refuse } = roundsOver([1, 2, 3], 3);
  await rounds.tick();
  for (const { number, answer } of asked) answer(number === 2 ? null : number * 10);
  await rounds.settled();
  refuse(true);
  await expect(rounds.tick()).rejects.toThrow('no database');
  refuse(false);
  await rounds.tick();
  expect(written.at(-1)).toEqual([10, 30]);
});

it('reports an attempt whose asking has thrown, and goes on', async () => {
  const { rounds, asked, failed, written } = roundsOver([1, 2], 2);
  await rounds.tick();
  asked[0]?.fail();
  asked[1]?.answer(20);
  await rounds.settled();
  await rounds.writeBack();
  expect([failed, written.at(-1)]).toEqual([[1], [20]]);
});
