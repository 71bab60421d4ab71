import { afterAll, beforeAll, expect, it } from 'vitest';

import { createCatalog } from '../generators/catalog/catalog.ts';
import { createBinding } from '../generators/configuration/create-binding.ts';
import { toRegistry, startEngine, type TestEngine } from '../tasks/testing/engine.ts';
import { testProvider } from '../tasks/testing/provider.ts';
import { createUsualTimes } from './usual-times.ts';

let engine: TestEngine;
beforeAll(async () => void (engine = await startEngine()));
afterAll(() => engine.stop());

/** The usual time of a model with nothing ended, whose vendor says 40 s. */
async function unmeasured(sandbox: boolean): Promise<number | null> {
  const known = createCatalog().listModels('openai').slice(0, 1);
  const binding = createBinding({
    generator: 'union',
    index: 0,
    provider: { ...testProvider(engine.http), name: 'openai' },
    connection: { baseUrl: 'http://127.0.0.1:1' },
    settings: 'a test',
    models: known.map((model) => ({ ...model, usualSeconds: 40, retiresAt: null })),
    today: () => '2026-11-26',
    sandbox,
  });
  const registry = toRegistry(binding);
  const [model] = registry.models({});
  if (model === undefined) throw new Error('there is no model');
  return createUsualTimes({ database: engine.database, registry }).of(model);
}

it("the usual time is its vendor's while nothing was measured, of real providers alone", async () => {
  expect(await unmeasured(false)).toBe(40);
  expect(await unmeasured(true)).toBeNull();
});
