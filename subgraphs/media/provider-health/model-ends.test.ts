import { afterEach, beforeEach, expect, it } from 'vitest';

import { createMetrics } from '../../../platform/metrics/prometheus.ts';
import { modelGone } from '../domain/failure.ts';
import type { Binding } from '../generators/bindings/binding.ts';
import { createCatalog } from '../generators/catalog/catalog.ts';
import { createBinding } from '../generators/configuration/create-binding.ts';
import { createCredentialRefusals, type CredentialRefusals } from '../generators/credentials/refusals.ts';
import { createTransactor } from '../tasks/storage/transactor.ts';
import { toRegistry, startEngine, until, type TestEngine } from '../tasks/testing/engine.ts';
import { testProvider } from '../tasks/testing/provider.ts';
import { createModelEnds } from './model-ends.ts';
import { createProviderHealth } from './provider-health.ts';

/** Warnings of ends, on fixed days: never of the clock. */

let engine: TestEngine;
let refusals: CredentialRefusals;
let published: Record<string, unknown>[];
beforeEach(async () => {
  engine = await startEngine();
  refusals = createCredentialRefusals(engine);
  published = [];
});
afterEach(async () => {
  refusals.close();
  await engine.stop();
});

function must<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error('missing');
  return value;
}

const known = must(createCatalog().listModels('openai')[0]);
const ends = [
  { ...known, id: 'near', retiresAt: '2026-12-01', successor: 'next' },
  { ...known, id: 'far', retiresAt: '2027-12-01' },
  { ...known, id: 'lasting', retiresAt: null },
];

/** What a process tells that starts on a day. */
async function startsOn(today: string, change: Partial<Binding> = {}) {
  const provider = { ...testProvider(engine.http), name: 'openai' };
  const made = createBinding({
    generator: 'union',
    index: 0,
    provider,
    connection: { baseUrl: 'http://127.0.0.1:1' },
    settings: 'a test',
    models: ends,
    today: () => today,
    sandbox: false,
  });
  const registry = toRegistry(...refusals.watch([{ ...made, ...change }]));
  const transactor = createTransactor(engine);
  const metrics = createMetrics('test');
  const publish = async (_: unknown, { type, data }: { type: string; data: object }) =>
    void published.push({ type, ...data });
  const modelEnds = createModelEnds({ ...engine, registry, refusals, transactor, metrics, publish });
  modelEnds.start();
  modelEnds.close();
  return { registry, metrics };
}

it('a model that ends within 60 days is told once, again when a month, a week and no day are left', async () => {
  const days = [
    '2026-10-01',
    '2026-10-02',
    '2026-10-02',
    '2026-10-20',
    '2026-11-01',
    '2026-11-24',
    '2026-12-01',
  ];
  const expected = [0, 1, 1, 1, 2, 3, 4];
  for (const [index, day] of days.entries()) {
    await startsOn(day);
    await until(async () => published.length === expected[index]);
  }
  expect(published[0]).toEqual({
    type: 'model.retiring',
    provider: 'openai',
    model: 'near',
    generator: 'union',
    retiresAt: '2026-12-01',
    successor: 'next',
    daysLeft: 60,
    reason: null,
  });
  expect(published.map(({ daysLeft }) => daysLeft)).toEqual([60, 30, 7, 0]);
});

it('the sandbox ends none', async () => {
  const { registry } = await startsOn('2026-11-30', { sandbox: true });
  expect(published).toEqual([]);
  const [health] = await createProviderHealth({ ...engine, registry, refusals }).all();
  expect(health?.models).toEqual([]);
});

it('a model that the provider does not have is told with what it said, by health and metric too', async () => {
  const broken = async () => Promise.reject(modelGone('openai: deprecated'));
  const provider = { name: 'openai', calls: { IMAGE: { call: broken } } };
  const { registry, metrics } = await startsOn('2026-09-01', { provider });
  const binding = must(registry.byId('union#0'));
  const context = {
    connection: { ...binding.connection, model: 'far' },
    reference: 'r',
    signal: new AbortController().signal,
  };
  const call = () =>
    must(binding.provider.calls?.IMAGE).call({ kind: 'IMAGE', prompt: 'a', images: [] }, context);
  await expect(call()).rejects.toThrow('deprecated');
  await expect(call()).rejects.toThrow('deprecated');
  await until(async () => published.length > 0);
  expect(published).toMatchObject([
    { type: 'model.retiring', model: 'far', retiresAt: '2027-12-01', reason: 'openai: deprecated' },
  ]);
  const [health] = await createProviderHealth({ ...engine, registry, refusals }).all();
  expect(health?.models).toEqual([
    { model: 'far', retiresAt: '2027-12-01', daysLeft: 456, successor: null, goneAt: expect.any(Date) },
  ]);
  expect(await metrics.text()).toMatch(/model="far"[^}]*\} 0\n/);
});
