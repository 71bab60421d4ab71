import { expect, it } from 'vitest';

import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { MediaDatabase } from '../database/database.ts';
import { createBudgetCache, createBudgetGate } from './gate.ts';

/** What starts cost that no budget bounds: nothing, not even a look at what they would. */

const never = (): never => {
  throw new Error('this is not to be asked');
};
const bus = { listen: () => never, onGap: () => never, publish: never } as unknown as EventBus;

it('asks neither the database nor for prices where there is no budget', async () => {
  let reads = 0;
  const select = () => ({ execute: () => Promise.resolve(((reads += 1), [])) });
  const database = { selectFrom: () => ({ select }) } as unknown as MediaDatabase;
  const cache = createBudgetCache({ database, bus });
  const gate = createBudgetGate({ database, cache });
  for (const id of ['one', 'two']) {
    expect(await gate.open({ id, owner: 'usr_me', parts: never })).toBeNull();
    await gate.check({ owner: 'usr_me', parts: never });
  }
  // The budgets there are, once.
  expect(reads).toBe(1);
});

it('asks for no more than that where the budgets bound others', async () => {
  const all = [
    { id: 'a', scope: 'USER', subject: 'usr_other' },
    { id: 'b', scope: 'GENERATOR', subject: 'owl' },
    { id: 'c', scope: 'KEY', subject: 'fox' },
  ];
  const select = () => ({ execute: () => Promise.resolve(all) });
  const database = { selectFrom: () => ({ select }) } as unknown as MediaDatabase;
  const cache = createBudgetCache({ database, bus });
  const gate = createBudgetGate({ database, cache });
  const cost = { microUnits: 1, currency: 'USD', units: {}, estimated: true };
  const start = { owner: 'usr_me', parts: () => [{ generator: 'fox', cost }] };
  expect(await gate.open({ id: 'one', ...start })).toBeNull();
  await gate.check(start);
  expect(await cache.bounding('usr_other', () => ['fox', 'owl'])).toEqual(['a', 'b']);
});
