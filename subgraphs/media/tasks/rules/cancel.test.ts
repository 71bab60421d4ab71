import { afterEach, beforeEach, expect, it } from 'vitest';

import type { Provider } from '../../providers/contract/provider.ts';
import { image, me, toRegistry, startEngine, type TestEngine, until } from '../testing/engine.ts';
import { testBinding } from '../testing/provider.ts';
import { PNG } from '../testing/upstream.ts';

/** Cancelling a set of images while one of them is being stored: from there on that one can't be cancelled. */

let engine: TestEngine;
beforeEach(async () => {
  engine = await startEngine();
});
afterEach(() => engine.stop());

const work = {
  kind: 'RECIPE',
  taskType: 'tea',
  prompt: 'a cup',
  aspectRatio: '1:1',
  templatePrompt: null,
  presetPrompts: ['one', 'two'],
} as const;
const recipe = { recipeGenerator: 'test' };

it('ends a set of calls as soon as the one that is being stored has ended', async () => {
  const picture = { files: [{ content: PNG, contentType: 'image/png' }], texts: [] };
  const provider: Provider = { name: 'calls', calls: { IMAGE: { call: async () => picture } } };
  const registry = toRegistry(testBinding('test#0', provider, 'http://127.0.0.1:1', { concurrency: 1 }));
  const service = engine.service(registry, recipe);
  engine.files.unavailable = 3; // which keeps it in STORING for a while
  await engine.worker(registry, recipe);
  const { id } = await service.submit(me, image('', { work }));
  await until(async () => {
    const { rows } = await engine.pool.query(`select 1 from media.task_steps where state = 'STORING'`);
    return rows.length === 1;
  });
  await service.cancel(me, id);
  expect((await engine.ended(service, id)).state).toBe('CANCELLED');
  const { rows } = await engine.pool.query('select state from media.attempts');
  expect(rows).toEqual([{ state: 'SUCCEEDED' }]);
});
