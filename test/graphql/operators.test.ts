import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { startReceiver, type Receiver } from '../../subgraphs/media/webhooks/receiver.fixture.ts';
import { graphql, until } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { openEnvironment, SECRET, type Environment } from '../providers/environment/environment.ts';

/** What an administrator sets over GraphQL, each field as it is read back: budgets, webhook endpoints, pauses of providers. */

const ROOT = 'secret-of-root';
/** What an image costs; those of the sandbox cost nothing. */
const PRICES = {
  currency: 'USD',
  date: '2026-11-22',
  models: [
    { provider: 'midjourney', model: '*', prices: [{ unit: 'run', amount: 0.05 }] },
    {
      provider: 'aggregator/midjourney',
      model: '*',
      prices: [
        { unit: 'run', amount: 0.08, when: { botType: 'NIJI_JOURNEY' } },
        { unit: 'run', amount: 0.05 },
      ],
    },
  ],
};
const IMAGE = 'mutation { generateImage(input: { generator: "imga", prompt: "a fox" }) { id } }';

let kiln: KilnUnderTest;
let folder: string;
let receiver: Receiver;
let world: Environment;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'kiln-operators-'));
  const prices = path.join(folder, 'prices.json');
  await writeFile(prices, JSON.stringify(PRICES));
  receiver = await startReceiver();
  world = await openEnvironment();
  await world.setLatency({ wire: 'midjourney', queuedMs: 0, runningMs: 100, progressSteps: 2 });
  const { proxy, sandbox } = world;
  const root = createHash('sha256').update(ROOT).digest('hex');
  kiln = await startKiln({
    isQuick: true,
    settings: {
      REST_AUTH: 'open',
      SERVICE_KEYS: `root=${root}`,
      PRICES_FILE: prices,
      METRICS_KEY: 'metrics',
      MIDJOURNEY_BASE_URL: `${proxy.origin}/midjourney`,
      MIDJOURNEY_SECRET: SECRET,
      OUTBOUND_ALLOW: [receiver.host, new URL(sandbox.url).host].join(','),
    },
  });
});
afterAll(async () => {
  await kiln?.close();
  await world?.close();
  await receiver?.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => void receiver.received.splice(0));

async function run(query: string, variables: Record<string, unknown> = {}) {
  return graphql(kiln.url, query, variables, { authorization: `Bearer ${ROOT}` });
}

async function ok(query: string, variables: Record<string, unknown> = {}) {
  const { data, errors } = await run(query, variables);
  expect(errors).toBeUndefined();
  return data;
}

async function makeImage(): Promise<void> {
  const { generateImage } = await ok(IMAGE);
  await until(
    () => ok('query ($id: ID!) { task(id: $id) { state } }', { id: generateImage.id }),
    ({ task }) => task.state === 'SUCCEEDED',
    30_000,
  );
}

describe('a budget', () => {
  const FIELDS =
    'id name scope subject period amount softAmount currency maxRunning startsPerMinute refusesUnknownPrices spent reserved left running renewsAt createdAt';
  const create = async (scope: string, input: object) => {
    const query = `mutation ($input: BudgetInput!) { createBudget(${scope}, input: $input) { ${FIELDS} } }`;
    return (await ok(query, { input })).createBudget;
  };

  it('says in the currency of the price list what is spent and left', async () => {
    const input = { name: 'posters', period: 'MONTH', amount: 0.2, softAmount: 0.15, maxRunning: 3 };
    const budget = await create('scope: GENERATOR, subject: "imga"', input);
    expect(budget).toMatchObject({
      ...input,
      scope: 'GENERATOR',
      subject: 'imga',
      currency: 'USD',
      startsPerMinute: null,
      refusesUnknownPrices: false,
      spent: 0,
      reserved: 0,
      left: 0.2,
      running: 0,
    });
    const { renewsAt } = budget;
    expect(renewsAt).toMatch(/^\d{4}-\d\d-01T00:00:00/);
    expect(Date.parse(renewsAt)).toBeGreaterThan(Date.now());
    await makeImage();
    const { budgets } = await ok(`{ budgets { ${FIELDS} } }`);
    expect(budgets).toEqual([{ ...budget, spent: 0.05, left: expect.closeTo(0.15, 6) }]);
    const query = `mutation ($id: ID!) { deleteBudget(id: $id) { ${FIELDS} } }`;
    expect((await ok(query, { id: budget.id })).deleteBudget).toMatchObject({ id: budget.id, spent: 0.05 });
    expect(await ok('{ budgets { id } }')).toEqual({ budgets: [] });
  });

  it('without an amount has nothing in a currency, and takes one when it is changed', async () => {
    const budget = await create('scope: TOTAL', { startsPerMinute: 600 });
    const without = { amount: null, softAmount: null, currency: null, left: null, startsPerMinute: 600 };
    expect(budget).toMatchObject({ ...without, subject: null, period: 'MONTH' });
    const change = `mutation ($id: ID!, $input: BudgetInput!) { updateBudget(id: $id, input: $input) { ${FIELDS} } }`;
    const input = { amount: 7, period: 'DAY', refusesUnknownPrices: true };
    const { updateBudget } = await ok(change, { id: budget.id, input });
    expect(updateBudget).toMatchObject({ ...input, id: budget.id, currency: 'USD', startsPerMinute: 600 });
    expect(updateBudget.left + updateBudget.spent).toBeCloseTo(7, 6);
    await ok('mutation ($id: ID!) { deleteBudget(id: $id) { id } }', { id: budget.id });
    expect((await run(change, { id: budget.id, input })).errors).toMatchObject([
      { extensions: { code: 'NOT_FOUND' } },
    ]);
  });
});

describe('the cost of a task', () => {
  it('is unknown while it runs where its generator is gone, and what it was charged at its end', async () => {
    const COST = 'query ($id: ID!) { task(id: $id) { state cost { amount currency estimated } } }';
    await world.setLatency({ wire: 'midjourney', holdAt: 50 });
    const { generateImage } = await ok(IMAGE);
    const read = async () => (await ok(COST, { id: generateImage.id })).task;
    const running = await until(read, ({ state }) => state === 'RUNNING');
    expect(running.cost).toEqual({ amount: 0.05, currency: 'USD', estimated: true });
    await kiln.runtime.database.pool.query(
      `update media.tasks set input = jsonb_set(input, '{generator}', '"gone"') where id = $1`,
      [generateImage.id],
    );
    expect((await read()).cost).toEqual({ amount: null, currency: null, estimated: true });
    await world.setLatency({ wire: 'midjourney', holdAt: 100 });
    const ended = await until(read, ({ state }) => state === 'SUCCEEDED', 30_000);
    expect(ended.cost).toEqual({ amount: 0.05, currency: 'USD', estimated: false });
  });
});

describe('the cost of a recipe', () => {
  it('is that of its steps, as its options have them, before it is started', async () => {
    const estimate = async (input: object) => {
      const query = 'query ($input: EstimateInput!) { estimateCost(input: $input) { amount estimated } }';
      return (await ok(query, { input: { kind: 'RECIPE', taskType: 'tea', ...input } })).estimateCost;
    };
    const drawn = { options: { image: { botType: 'NIJI_JOURNEY' } } };
    expect(await estimate({})).toEqual({ amount: 0.2, estimated: true });
    expect(await estimate({ hasImage: true })).toEqual({ amount: 0.25, estimated: true });
    expect(await estimate(drawn)).toEqual({ amount: 0.32, estimated: true });
  });
});

describe('a webhook endpoint', () => {
  const FIELDS = 'id url description eventTypes rotatedAt createdAt';

  it('is made, changed and sent what it asks for, each time again when it is asked for', async () => {
    const create =
      'mutation ($url: String!) { createWebhookEndpoint(url: $url, eventTypes: ["payment.*"], description: "shop") { secret endpoint { ID } } }';
    const { createWebhookEndpoint: made } = await ok(create.replace('ID', FIELDS), { url: receiver.url });
    const { endpoint, secret } = made;
    expect(secret).toMatch(/^whsec_/);
    expect(endpoint).toMatchObject({ description: 'shop', eventTypes: ['payment.*'], rotatedAt: null });
    const change = `mutation ($id: ID!) { updateWebhookEndpoint(id: $id, eventTypes: ["task.succeeded"]) { ${FIELDS} } }`;
    const changed = { ...endpoint, eventTypes: ['task.succeeded'] };
    expect(await ok(change, { id: endpoint.id })).toEqual({ updateWebhookEndpoint: changed });
    expect(await ok(`{ webhookEndpoints { ${FIELDS} } }`)).toEqual({ webhookEndpoints: [changed] });

    await makeImage();
    const [delivery] = await deliveries(endpoint.id, 1);
    expect(delivery).toMatchObject({
      type: 'task.succeeded',
      url: receiver.url,
      lastStatus: 204,
      lastError: null,
    });
    const again = 'mutation ($id: ID!) { redeliverToWebhookEndpoint(deliveryId: $id) { id state } }';
    const { redeliverToWebhookEndpoint } = await ok(again, { id: delivery?.['id'] });
    expect(redeliverToWebhookEndpoint.id).toBe(delivery?.['id']);
    await until(
      async () => receiver.received,
      ({ length }) => length > 1,
    );
    const sent = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(sent).toEqual([delivery?.['id'], delivery?.['id']]);

    const rotate = `mutation ($id: ID!) { rotateWebhookSecret(id: $id) { secret endpoint { ${FIELDS} } } }`;
    const { rotateWebhookSecret: rotated } = await ok(rotate, { id: endpoint.id });
    expect(rotated.secret).not.toBe(secret);
    expect(rotated.endpoint).toEqual({ ...changed, rotatedAt: expect.any(String) });
    await ok('mutation ($id: ID!) { deleteWebhookEndpoint(id: $id) { id } }', { id: endpoint.id });
    expect(await ok('{ webhookEndpoints { id } }')).toEqual({ webhookEndpoints: [] });
    expect((await run(change, { id: endpoint.id })).errors).toMatchObject([
      { extensions: { code: 'NOT_FOUND' } },
    ]);
  });

  const deliveries = async (endpointId: string, count: number) => {
    const query =
      'query ($id: ID!) { webhookEndpointDeliveries(endpointId: $id) { id type url state attempts lastStatus lastError } }';
    const { webhookEndpointDeliveries } = await until(
      () => ok(query, { id: endpointId }),
      ({ webhookEndpointDeliveries: all }) =>
        all.filter(({ state }: { state: string }) => state === 'DELIVERED').length >= count,
    );
    return webhookEndpointDeliveries as readonly Record<string, unknown>[];
  };
});

it.each([
  ['pauseBinding(binding: "imga", reason: $text) { binding }', 'BAD_USER_INPUT', 'reason'],
  ['pauseBinding(binding: "none", reason: "slow") { binding }', 'NOT_FOUND', undefined],
  [
    'createWebhookEndpoint(url: "https://a.example", eventTypes: ["*"], description: $text) { secret }',
    'BAD_USER_INPUT',
    'description',
  ],
  [
    'createWebhookEndpoint(url: "https://a.example", eventTypes: []) { secret }',
    'BAD_USER_INPUT',
    'eventTypes',
  ],
  [
    'createWebhookEndpoint(url: "https://a.example", eventTypes: ["x"]) { secret }',
    'BAD_USER_INPUT',
    'eventTypes',
  ],
])('%s is refused', async (mutation, code, field) => {
  const isLong = mutation.includes('$text');
  const query = `mutation ${isLong ? '($text: String!)' : ''} { ${mutation} }`;
  const { errors } = await run(query, isLong ? { text: 'x'.repeat(201) } : {});
  expect(errors).toMatchObject([{ extensions: { code, ...(field && { field }) } }]);
});

describe('a pause', () => {
  it('is of one binding, and makes its models paused until it is resumed', async () => {
    const query =
      '{ models(generator: "imga") { id paused allowed } providerHealth { generator binding paused { reason by } } }';
    const { models, providerHealth } = await ok(query);
    expect(models.length).toBeGreaterThan(0);
    expect(models).not.toContainEqual(expect.objectContaining({ paused: true }));
    expect(models).not.toContainEqual(expect.objectContaining({ allowed: false }));
    const { binding } = providerHealth.find(({ generator }: { generator: string }) => generator === 'imga');
    await ok('mutation ($id: ID!) { pauseBinding(binding: $id, reason: "too slow") { binding } }', {
      id: binding,
    });
    const paused = await ok(query);
    expect(paused.models).not.toContainEqual(expect.objectContaining({ paused: false }));
    expect(paused.providerHealth).toContainEqual({
      generator: 'imga',
      binding,
      paused: { reason: 'too slow', by: expect.stringMatching(/^key_/) },
    });
    const { generateImage } = await ok(IMAGE);
    const scrape = await fetch(`${kiln.url}/metrics`, { headers: { authorization: 'Bearer metrics' } });
    const lines = (await scrape.text()).split('\n').filter((line) => line.includes(`binding="${binding}"`));
    const read = (name: string) => lines.find((line) => line.startsWith(`${name}{`))?.split(' ')[1];
    expect([read('kiln_queue_length'), read('kiln_binding_paused')]).toEqual(['1', '1']);
    expect(Number(read('kiln_queue_oldest_seconds'))).toBeGreaterThan(0);
    await ok('mutation ($id: ID!) { cancelTask(id: $id) { state } }', generateImage);
    await ok('mutation ($id: ID!) { resumeBinding(binding: $id) { binding } }', { id: binding });
    expect((await ok(query)).models).toEqual(models);
  });
});
