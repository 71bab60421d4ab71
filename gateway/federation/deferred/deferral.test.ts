import { expect, it } from 'vitest';

import type { Run } from '../compiled/run.ts';
import { createPartRuns } from './deferral.ts';

/** A part that notes when it is fetched. */
function createPart(key: string, depends: readonly string[], primary: Promise<void>, begun: string[]) {
  const run = async (): Promise<void> => void begun.push(key);
  return { key, depends, primary, run };
}

const whole = () => ({ data: { a: 1 }, errors: [], isShared: false }) as unknown as Run;
/** What is done in this turn is done. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

it('begins a part when all that it depends on is fetched, before its parent is', async () => {
  const run = whole();
  const runs = createPartRuns(() => run);
  const primary = Promise.withResolvers<void>();
  const begun: string[] = [];
  runs.done('early');
  runs.begin(createPart('both', ['early', 'late'], primary.promise, begun));
  runs.begin(createPart('one', ['early'], primary.promise, begun));
  await turn();
  expect(begun).toEqual(['one']);
  runs.done('late');
  await turn();
  expect(begun).toEqual(['one', 'both']);
  let isThere = false;
  const given = runs.of('both')?.then(() => (isThere = true));
  await turn();
  expect(isThere).toBe(false);
  primary.resolve();
  await given;
});

it('begins a part with its parent where what it depends on asks for nothing', async () => {
  const runs = createPartRuns(whole);
  const primary = Promise.withResolvers<void>();
  const begun: string[] = [];
  runs.begin(createPart('part', ['never'], primary.promise, begun));
  await turn();
  expect(begun).toEqual([]);
  primary.resolve();
  await runs.of('part');
  expect([begun, runs.of('another')]).toEqual([['part'], undefined]);
});

it('gives each part the data of the whole and errors of its own, and tells the whole that objects are shared', async () => {
  const run = whole();
  const runs = createPartRuns(() => run);
  const begin = (key: string, isShared: boolean) =>
    runs.begin({
      key,
      depends: [],
      primary: Promise.resolve(),
      run: async (own) => {
        own.errors.push(new Error(key) as never);
        if (isShared) own.isShared = true;
      },
    });
  begin('shared', true);
  const one = await runs.of('shared');
  expect(run.isShared).toBe(true);
  begin('plain', false);
  const other = await runs.of('plain');
  expect([one?.data, other?.data]).toEqual([run.data, run.data]);
  expect([one, other].map((own) => own?.errors.map(({ message }) => message))).toEqual([
    ['shared'],
    ['plain'],
  ]);
  expect([run.errors, run.isShared]).toEqual([[], true]);
});
