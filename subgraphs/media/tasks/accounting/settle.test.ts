import { afterAll, beforeAll, expect, it } from 'vitest';

import type { Cost } from '../../domain/cost.ts';
import { createTransactor } from '../storage/transactor.ts';
import { image, me, startEngine, type TestEngine, toRegistry } from '../testing/engine.ts';
import { PRICED, testBinding, testProvider } from '../testing/provider.ts';
import { settleUnstored } from './settle.ts';

/** What a task that ends without its results still costs. */

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

it('charges what was finished and never stored, and neither what is charged already nor what still runs', async () => {
  const provider = testProvider(engine.http);
  const registry = toRegistry(testBinding('test#0', provider, 'http://127.0.0.1:1', { prices: PRICED }));
  const service = engine.service(registry);
  const { id } = await service.submit(me, image());
  await engine.pool.query(
    `insert into media.attempts (task_id, step, number, binding, binding_name, provider, reference, state, units, settled_at)
    select $1::uuid, step, number, 'test#0', 'test:0', 'test', number || '', state, '{"pictures": 2}', settled_at
    from (values (1, 1, 'FAILED', now()), (1, 2, 'SUCCEEDED', now()), (1, 3, 'SUCCEEDED', null), (1, 4, 'RUNNING', null),
      (1, 5, 'FAILED', null)) as attempt(step, number, state, settled_at)`,
    [id],
  );
  const told: { readonly number: number; readonly outcome: string; readonly cost: Cost }[] = [];
  const observer = {
    taskEnded: () => undefined,
    attemptEnded: (attempt: object, end: { readonly outcome: string; readonly cost: Cost }) =>
      void told.push({ number: 'number' in attempt ? Number(attempt.number) : 0, ...end }),
  };
  const [task] = await engine.database.selectFrom('media.tasks').selectAll().where('id', '=', id).execute();
  if (task === undefined) throw new Error('it was submitted');
  const settleThem = () =>
    createTransactor(engine).run(async (scope) => {
      await settleUnstored({ registry, observer }, { scope, task });
      expect(told).toEqual([]);
    });
  await settleThem();
  const cost = { microUnits: 40_000, currency: 'USD', units: { runs: 1, pictures: 2 }, estimated: false };
  expect(told.splice(0)).toEqual([{ number: 3, outcome: 'finished', cost }]);
  await settleThem();
  expect(told).toEqual([]);
  const { rows } = await engine.pool.query(
    `select number, cost::int from media.attempts where settled_at is not null order by number`,
  );
  expect(rows).toEqual([
    { number: 1, cost: null },
    { number: 2, cost: null },
    { number: 3, cost: 40_000 },
  ]);
});
