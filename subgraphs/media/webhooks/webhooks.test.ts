import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { describe, expect } from 'vitest';

import { createOutboundRule } from '../../../platform/http/safe-url.ts';
import { createHttpClient } from '../../../platform/http/undici-http-client.ts';
import { newId } from '../../../platform/ids.ts';
import { createMetrics } from '../../../platform/metrics/prometheus.ts';
import { once } from '../../../platform/once.ts';
import type { DeliveryRow } from '../database/database.ts';
import { createProviderEvents } from '../provider-health/provider-events.ts';
import { createTransactor } from '../tasks/storage/transactor.ts';
import { engineTest } from '../tasks/testing/engine-test.ts';
import { image, me, toRegistry, stranger, type TestEngine, until } from '../tasks/testing/engine.ts';
import { testBinding, testProvider } from '../tasks/testing/provider.ts';
import type { Upstream } from '../tasks/testing/upstream.ts';
import { prune } from '../tasks/work/pruner.ts';
import { beginAttempt, endAttempt, type AttemptEnd } from './delivery-store.ts';
import { createWebhookEndpoints } from './endpoints.ts';
import { createWebhookEndListener } from './enqueue.ts';
import { createEventPublisher } from './event-publisher.ts';
import { startReceiver, type Receiver } from './receiver.fixture.ts';
import { createWebhookService } from './service.ts';
import { createWebhookWorker, type WebhookWorkerOptions } from './worker.ts';

/** Result webhooks on a real database, queue and sockets. */

const secret = `whsec_${Buffer.from('k'.repeat(32)).toString('base64')}`;
const QUICK = [0.05, 0.05, 0.05, 0.05, 0.05];

function createWebhooks({ database, queue, bus }: TestEngine) {
  return createWebhookService({ database, queue, bus });
}

const idsReceived = (receiver: Receiver) =>
  new Set(receiver.received.map(({ headers }) => headers['webhook-id']));

function verify({ body, headers }: Receiver['received'][number]): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>);
}

/** An engine whose tasks are told to a receiver, and workers of webhooks that end with it. */
function createHooks(engine: TestEngine, upstream: Upstream, receiver: Receiver) {
  const stops: (() => Promise<void>)[] = [];
  /** A worker of webhooks that may call the receiver, and nothing else that is private. */
  async function startWebhooks(change: Partial<WebhookWorkerOptions> = {}) {
    const { database, queue, files, logger } = engine;
    const http = createHttpClient({ outbound: createOutboundRule({ allow: [receiver.host] }), logger });
    const worker = createWebhookWorker({
      database,
      queue,
      files,
      http,
      secret,
      logger,
      pauses: QUICK,
      ...change,
    });
    await worker.start();
    const stop = async () => {
      await worker.stop(0);
      await http.close();
    };
    stops.push(stop);
    return worker;
  }

  const working = once(async () => {
    const registry = toRegistry(testBinding('test#0', testProvider(engine.http), upstream.url));
    await engine.worker(registry);
    return engine.service(registry);
  });

  /** Tasks that have ended, to be told to this address. */
  async function endedTasks(callbackUrl: string, count: number): Promise<readonly string[]> {
    const service = await working();
    const submitted = Array.from({ length: count }, () => service.submit(me, { ...image(), callbackUrl }));
    const tasks = await Promise.all(submitted);
    return Promise.all(tasks.map(async ({ id }) => (await engine.ended(service, id)).id));
  }

  async function endedTask(callbackUrl: string): Promise<string> {
    const [id = ''] = await endedTasks(callbackUrl, 1);
    return id;
  }

  async function row(taskId: string): Promise<DeliveryRow> {
    const { rows } = await sql<DeliveryRow>`
      select * from media.webhook_deliveries where task_id = ${taskId}::uuid`.execute(engine.database);
    if (rows[0] === undefined) throw new Error('there is no delivery');
    return rows[0];
  }

  const inState = (taskId: string, state: DeliveryRow['state']) =>
    until(async () => {
      const found = await row(taskId);
      return found.state === state && found;
    });

  async function stopAll(): Promise<void> {
    for (const stop of stops.toReversed()) await stop();
  }
  return { engine, upstream, receiver, startWebhooks, endedTasks, endedTask, row, inState, stopAll };
}

const it = engineTest.extend<{ readonly hooks: ReturnType<typeof createHooks> }>({
  hooks: async ({ engine, upstream }, use) => {
    const receiver = await startReceiver();
    const hooks = createHooks(engine, upstream, receiver);
    await use(hooks);
    await hooks.stopAll();
    await receiver.close();
  },
});

describe.concurrent('a result webhook', () => {
  it('tells the end of a task once, signed as Standard Webhooks says', async ({ hooks }) => {
    const { receiver, startWebhooks, endedTask, inState } = hooks;
    await startWebhooks();
    const id = await endedTask(receiver.url);
    const delivery = await inState(id, 'DELIVERED');
    expect(delivery).toMatchObject({ attempts: 1, lastStatus: 204, lastError: null });
    expect(receiver.received).toHaveLength(1);
    const [request] = receiver.received;
    if (request === undefined) throw new Error('nothing came');
    expect(request).toMatchObject({ path: '/hook', method: 'POST' });
    expect(request.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': delivery.id });
    expect(verify(request)).toEqual({
      type: 'task.succeeded',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: {
        id,
        kind: 'IMAGE',
        generator: 'test',
        state: 'SUCCEEDED',
        outputs: [
          {
            url: expect.stringContaining('http://files/'),
            contentType: 'image/png',
            bytes: expect.any(Number),
            sha256: expect.any(String),
            width: 1,
            height: 1,
            duration: null,
          },
        ],
        text: null,
        error: null,
      },
    });
    expect(() =>
      new Webhook(`whsec_${'A'.repeat(44)}`).verify(request.body, request.headers as never),
    ).toThrow('No matching signature');
  });

  it('tells why a task failed, and that one was cancelled', async ({ hooks }) => {
    const { engine, upstream, receiver, startWebhooks, endedTask, inState } = hooks;
    await startWebhooks();
    upstream.onStatus = () => ({ state: 'failed', retryable: false });
    const failed = await endedTask(receiver.url);
    await inState(failed, 'DELIVERED');
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
      type: 'task.failed',
      data: { id: failed, outputs: [], error: { code: expect.any(String), retryable: false } },
    });
    const service = engine.service(
      toRegistry(testBinding('idle#0', testProvider(engine.http), upstream.url, { generator: 'idle' })),
    );
    const work = { kind: 'IMAGE', generator: 'idle', prompt: 'a fox' } as const;
    const waiting = await service.submit(me, { ...image(), work, callbackUrl: receiver.url });
    await service.cancel(me, waiting.id);
    await inState(waiting.id, 'DELIVERED');
    expect(JSON.parse(receiver.received[1]?.body ?? '')).toMatchObject({
      type: 'task.cancelled',
      data: { id: waiting.id, state: 'CANCELLED' },
    });
  });

  it('is tried again until a receiver that was down is up, under the same id', async ({ hooks }) => {
    const { receiver, startWebhooks, endedTask, row, inState } = hooks;
    const port = Number(new URL(receiver.url).port);
    await receiver.close();
    await startWebhooks({ pauses: Array.from({ length: 200 }, () => 0.05) });
    const id = await endedTask(receiver.url);
    const down = await until(async () => {
      const found = await row(id);
      return found.tries >= 3 && found.lastError !== null && found;
    });
    expect(down).toMatchObject({ state: 'PENDING', lastStatus: null });
    expect(down.lastError).toContain("can't be reached");
    const restarted = await startReceiver(port);
    const delivery = await inState(id, 'DELIVERED');
    expect(delivery).toMatchObject({ lastStatus: 204, lastError: null });
    expect([...idsReceived(restarted)]).toEqual([delivery.id]);
    await restarted.close();
  });

  it('is tried again after a 500, with a signature that is fresh and a body that is the same', async ({
    hooks,
  }) => {
    const { receiver, startWebhooks, endedTask, inState } = hooks;
    receiver.onRequest = (response, count) => void response.writeHead(count < 3 ? 500 : 200).end('whatever');
    await startWebhooks();
    const id = await endedTask(receiver.url);
    const delivery = await inState(id, 'DELIVERED');
    expect(delivery).toMatchObject({ attempts: 3, lastStatus: 200, lastError: null });
    expect([...idsReceived(receiver)]).toEqual([delivery.id]);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    for (const request of receiver.received) verify(request);
  });

  it('is given up after its last attempt, says so, and counts from 0, as what grows is alarmed of', async ({
    hooks,
  }) => {
    const { receiver, startWebhooks, endedTask, inState } = hooks;
    receiver.onRequest = (response) => void response.writeHead(503).end('secret words');
    const metrics = createMetrics('worker');
    const givenUp = async () =>
      /^kiln_webhook_attempts_total\{.*GIVEN_UP.*\} (\d+)$/m.exec(await metrics.text())?.[1];
    await startWebhooks({ pauses: [0.05, 0.05], metrics });
    expect(await givenUp()).toBe('0');
    const delivery = await inState(await endedTask(receiver.url), 'GIVEN_UP');
    expect(delivery).toMatchObject({
      attempts: 3,
      lastStatus: 503,
      lastError: 'the receiver answered 503; given up after 3 attempts',
      nextAttemptAt: null,
    });
    expect(receiver.received).toHaveLength(3);
    await until(async () => (await givenUp()) === '1');
  });

  it('does not follow redirects', async ({ hooks }) => {
    const { receiver, startWebhooks, endedTask, inState } = hooks;
    receiver.onRequest = (response) =>
      void response.writeHead(301, { location: `${receiver.url}/elsewhere?token=1` }).end();
    await startWebhooks({ pauses: [] });
    const delivery = await inState(await endedTask(receiver.url), 'GIVEN_UP');
    expect(delivery.lastStatus).toBe(301);
    expect(delivery.lastError).toContain(`a redirect to http://${receiver.host}: redirects are not followed`);
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
  });

  it('stops at 410 Gone', async ({ hooks }) => {
    const { receiver, startWebhooks, endedTask, inState } = hooks;
    receiver.onRequest = (response) => void response.writeHead(410).end();
    await startWebhooks();
    const delivery = await inState(await endedTask(receiver.url), 'GIVEN_UP');
    expect(delivery).toMatchObject({ attempts: 1, lastStatus: 410 });
    expect(receiver.received).toHaveLength(1);
  });

  it('never calls a name that resolves to a private address', async ({ hooks }) => {
    const { receiver, startWebhooks, endedTask, inState } = hooks;
    await startWebhooks({ pauses: [] });
    const port = new URL(receiver.url).port;
    const delivery = await inState(await endedTask(`http://localhost:${port}/hook`), 'GIVEN_UP');
    expect(delivery).toMatchObject({ attempts: 1, lastStatus: null });
    expect(delivery.lastError).toContain('does not resolve to a public address');
    expect(receiver.received).toEqual([]);
  });

  it('waits for no body: the status of an answer that never ends counts', async ({ hooks }) => {
    const { receiver, startWebhooks, endedTask, inState } = hooks;
    receiver.onRequest = (response, count) => {
      response.writeHead(count === 1 ? 500 : 200);
      const drip = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(drip));
    };
    await startWebhooks({ timeoutMs: 2_500 });
    const delivery = await inState(await endedTask(receiver.url), 'DELIVERED');
    expect(delivery).toMatchObject({ attempts: 2, lastStatus: 200 });
    expect([...idsReceived(receiver)]).toEqual([delivery.id]);
  });

  it('takes a huge answer for what its status says', async ({ hooks }) => {
    const { receiver, startWebhooks, endedTask, inState } = hooks;
    receiver.onRequest = (response) => void response.writeHead(200).end(Buffer.alloc(1_000_000));
    await startWebhooks();
    expect(await inState(await endedTask(receiver.url), 'DELIVERED')).toMatchObject({ attempts: 1 });
  });

  it('gives a receiver that does not answer no longer than the time-out', async ({ hooks }) => {
    const { receiver, startWebhooks, endedTask, inState } = hooks;
    receiver.onRequest = (response, count) => void (count > 1 && response.writeHead(200).end());
    await startWebhooks({ timeoutMs: 1_500 });
    const delivery = await inState(await endedTask(receiver.url), 'DELIVERED');
    expect(delivery).toMatchObject({ attempts: 2, lastError: null });
  });

  it('is not held up by messages to a receiver that hangs, however many these are', async ({
    hooks,
    onTestFinished,
  }) => {
    const { engine, receiver, startWebhooks, endedTasks } = hooks;
    const hanging = await startReceiver();
    onTestFinished(() => hanging.close());
    hanging.onRequest = () => undefined;
    await endedTasks(hanging.url, 40);
    await endedTasks(receiver.url, 1);
    const outbound = createOutboundRule({ allow: [receiver.host, hanging.host] });
    const http = createHttpClient({ outbound, logger: engine.logger });
    onTestFinished(() => http.close());
    await startWebhooks({ http, timeoutMs: 1_000 });
    await until(async () => receiver.received.length === 1);
    expect(hanging.received.length).toBeLessThan(40);
  });

  it('of a worker that dies before it has written down what it sent goes out again under the same id', async ({
    hooks,
  }) => {
    const { receiver, startWebhooks, endedTask, row, inState } = hooks;
    const sent = Promise.withResolvers<void>();
    receiver.onRequest = (response, count) => {
      if (count > 1) response.writeHead(200).end();
      else sent.resolve();
    };
    const first = await startWebhooks();
    const id = await endedTask(receiver.url);
    await sent.promise;
    await first.stop(0);
    expect(await row(id)).toMatchObject({ state: 'PENDING', attempts: 1, lastStatus: null });
    await startWebhooks();
    const delivery = await inState(id, 'DELIVERED');
    expect(delivery.attempts).toBe(2);
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([delivery.id, delivery.id]);
  });
});

describe.concurrent('a delivery that waits', () => {
  it.for(['deleted', 'failed for good'])(
    'is sent though its job was %s, and ends',
    async (fate, { hooks }) => {
      const { engine, receiver, startWebhooks, endedTask, row, inState } = hooks;
      receiver.onRequest = (response, count) => void response.writeHead(count === 1 ? 500 : 200).end();
      await startWebhooks({ pauses: [3_600], sweepPauseMs: 50, untouchedSeconds: 0 });
      const id = await endedTask(receiver.url);
      await until(async () => (await row(id)).nextAttemptAt);
      const lose = fate === 'deleted' ? 'delete from queue.jobs' : `update queue.jobs set state = 'failed'`;
      await engine.pool.query(`${lose} where queue = 'media.webhook-out'`);
      await sql`update media.webhook_deliveries set next_attempt_at = now()`.execute(engine.database);
      expect(await inState(id, 'DELIVERED')).toMatchObject({ attempts: 2, lastStatus: 200 });
    },
  );

  it('is not sent before it is due, though a job for it is', async ({ hooks }) => {
    const { engine, receiver, startWebhooks, endedTask, row } = hooks;
    receiver.onRequest = (response) => void response.writeHead(500).end();
    await startWebhooks({ pauses: [3_600] });
    const id = await endedTask(receiver.url);
    await until(async () => (await row(id)).nextAttemptAt);
    const { id: deliveryId, round } = await row(id);
    const job = { queue: 'media.webhook-out', data: { deliveryId, round } };
    await engine.database
      .transaction()
      .execute((transaction) =>
        engine.queue.enqueue(transaction, job, { ...job, data: { ...job.data, round: 7 } }),
      );
    engine.queue.wake(job.queue);
    // That of another round ends, that of this one waits as the first one does.
    const left = `select count(*)::int as jobs from queue.jobs where queue = 'media.webhook-out'
      and state = 'waiting' and due_at > now() + interval '3000 seconds'`;
    await until(async () => (await engine.pool.query(left)).rows[0].jobs === 2);
    expect([receiver.received.length, (await row(id)).attempts]).toEqual([1, 1]);
  });

  it('is not ended by an attempt that another one has followed, unless that has delivered it', async ({
    hooks,
  }) => {
    const { engine, receiver, endedTask, row } = hooks;
    const id = await endedTask(receiver.url);
    const { id: deliveryId, round } = await row(id);
    const attempt = async () => {
      const begun = await beginAttempt(engine.database, { deliveryId, round });
      if (begun === null) throw new Error('no attempt is due');
      return begun;
    };
    const [paused, current] = [await attempt(), await attempt()];
    const failed: AttemptEnd = { state: 'GIVEN_UP', status: 503, error: 'down', pauseSeconds: null };
    await endAttempt(engine.database, paused, failed);
    expect(await row(id)).toMatchObject({ state: 'PENDING', lastError: null });
    await endAttempt(engine.database, current, { ...failed, state: 'PENDING', pauseSeconds: 60 });
    expect(await row(id)).toMatchObject({ state: 'PENDING', lastStatus: 503 });
    await endAttempt(engine.database, paused, { ...failed, state: 'DELIVERED', status: 204, error: null });
    expect(await row(id)).toMatchObject({ state: 'DELIVERED', lastStatus: 204, nextAttemptAt: null });
  });
});

describe.concurrent('the delivery log', () => {
  it('is for the owner of the task', async ({ hooks }) => {
    const { engine, receiver, startWebhooks, endedTask, inState } = hooks;
    await startWebhooks();
    const id = await endedTask(receiver.url);
    const { id: deliveryId } = await inState(id, 'DELIVERED');
    const webhooks = createWebhooks(engine);
    expect(await webhooks.deliveries(me, id)).toEqual([
      {
        id: deliveryId,
        taskId: id,
        url: receiver.url,
        attempts: 1,
        deliveredAt: expect.any(Date),
        lastStatus: 204,
        lastError: null,
      },
    ]);
    const refused = [
      () => webhooks.deliveries(stranger, id),
      () => webhooks.redeliver(stranger, deliveryId),
      () => webhooks.deliveries(me, 'none'),
      () => webhooks.redeliver(me, 'none'),
    ];
    for (const ask of refused) await expect(ask()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(receiver.received).toHaveLength(1);
  });

  it('lets a delivery be sent again under its id, once for all that ask at the same time', async ({
    hooks,
  }) => {
    const { engine, receiver, startWebhooks, endedTask, inState } = hooks;
    await startWebhooks();
    const id = await endedTask(receiver.url);
    const first = await inState(id, 'DELIVERED');
    // Held, so that all of them ask while it is under way.
    const held = Promise.withResolvers<void>();
    receiver.onRequest = (response) => void held.promise.then(() => response.writeHead(202).end());
    const webhooks = createWebhooks(engine);
    const asked = await Promise.all(Array.from({ length: 8 }, () => webhooks.redeliver(me, first.id)));
    expect(new Set(asked.map((delivery) => delivery.id))).toEqual(new Set([first.id]));
    expect(asked.every((delivery) => delivery.deliveredAt === null)).toBe(true);
    await until(async () => receiver.received.length === 2);
    await webhooks.redeliver(me, first.id);
    held.resolve();
    const again = await inState(id, 'DELIVERED');
    expect(again).toMatchObject({ id: first.id, attempts: 2, lastStatus: 202, round: 2 });
    expect([...idsReceived(receiver)]).toEqual([first.id]);
    expect(receiver.received).toHaveLength(2);
  });

  it('sends at once what was waiting for its next attempt, which then does not come', async ({ hooks }) => {
    const { engine, receiver, startWebhooks, endedTask, row, inState } = hooks;
    receiver.onRequest = (response, count) => void response.writeHead(count === 1 ? 500 : 200).end();
    await startWebhooks({ pauses: [3_600] });
    const id = await endedTask(receiver.url);
    const waiting = await until(async () => {
      const found = await row(id);
      return found.nextAttemptAt !== null && found;
    });
    await createWebhooks(engine).redeliver(me, waiting.id);
    expect(await inState(id, 'DELIVERED')).toMatchObject({ attempts: 2, round: 2, nextAttemptAt: null });
  });

  it('is pruned with the events of its task, unless something is still to be sent', async ({ hooks }) => {
    const { engine, receiver, startWebhooks, endedTasks, row, inState } = hooks;
    await startWebhooks();
    const [done = '', open = ''] = await endedTasks(receiver.url, 2);
    await inState(done, 'DELIVERED');
    await inState(open, 'DELIVERED');
    const prunes = () => prune({ ...engine, registry: toRegistry(), eventRetentionDays: 30 });
    await prunes();
    expect(await engine.count('media.webhook_deliveries')).toBe(2);
    await sql`update media.webhook_deliveries set created_at = now() - interval '31 days'`.execute(
      engine.database,
    );
    await sql`update media.webhook_deliveries set state = 'PENDING', next_attempt_at = now() + interval '1 day'
      where task_id = ${open}::uuid`.execute(engine.database);
    await prunes();
    expect(await engine.count('media.webhook_deliveries')).toBe(1);
    expect((await row(open)).state).toBe('PENDING');
  });
});

describe.concurrent('a webhook endpoint', () => {
  it('receives the events it asked for, each signed with its own secret, and again when asked', async ({
    hooks,
  }) => {
    const { engine, upstream, receiver, startWebhooks } = hooks;
    const { database, bus } = engine;
    const publisher = createEventPublisher({ bus });
    const transactor = createTransactor(engine);
    const endpoints = createWebhookEndpoints({
      database,
      transactor,
      outbound: createOutboundRule({ allow: [receiver.host] }),
      publisher,
      webhookSecret: secret,
    });
    const budget = { id: newId(), type: 'budget.warning', at: new Date(), data: { left: 1 } };
    const told = () => transactor.run((scope) => publisher.publish(scope, budget));
    await told();
    const hears = await endpoints.create({ url: receiver.url, eventTypes: ['task.*', 'budget.warning'] });
    const other = await endpoints.create({ url: `${receiver.url}2`, eventTypes: ['provider.*'] });
    await startWebhooks();
    const registry = toRegistry(testBinding('test#0', testProvider(engine.http), upstream.url));
    const endListener = createWebhookEndListener(engine.queue, publisher);
    const service = engine.service(registry, { endListener });
    await engine.worker(registry, { endListener });
    const { id } = await engine.ended(service, (await service.submit(me, image())).id);
    // The same event again is told once.
    for (const _ of [1, 2]) await told();
    await until(async () => receiver.received.length === 2);
    const verified = receiver.received.map(({ body, headers }) =>
      new Webhook(hears.secret).verify(body, headers as Record<string, string>),
    );
    expect(verified).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'task.succeeded', data: expect.objectContaining({ id }) }),
        { type: 'budget.warning', timestamp: budget.at.toISOString(), data: { left: 1 } },
      ]),
    );
    expect(await createWebhooks(engine).deliveries(me, id)).toEqual([]);
    const sent = await until(async () => {
      const all = await endpoints.deliveries(hears.endpoint.id, 10);
      return all.every(({ state }) => state === 'DELIVERED') && all;
    });
    expect(sent.map(({ type, taskId }) => [type, taskId])).toEqual([
      ['budget.warning', null],
      ['task.succeeded', id],
    ]);
    expect(await endpoints.deliveries(other.endpoint.id, 10)).toEqual([]);
    const rotated = await endpoints.rotateSecret(hears.endpoint.id);
    await endpoints.redeliver(sent[0]?.id ?? '');
    const again = await until(async () => receiver.received[2]);
    for (const one of [hears.secret, rotated.secret]) {
      new Webhook(one).verify(again.body, again.headers as Record<string, string>);
    }
    expect(rotated.secret).not.toBe(hears.secret);
    await endpoints.remove(hears.endpoint.id);
    await expect(endpoints.redeliver(sent[0]?.id ?? '')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    publisher.close();
    for (const [input, field] of [
      [{ url: 'http://10.0.0.1/' }, 'url'],
      [{ url: receiver.url, eventTypes: ['task.started'] }, 'eventTypes'],
      [{ url: receiver.url, eventTypes: [] }, 'eventTypes'],
    ] as const)
      await expect(endpoints.create(input)).rejects.toMatchObject({ field });
  });
});

describe.concurrent('providers that go away and come back', () => {
  it('are told once, though every process sees it', async ({ hooks }) => {
    const { engine } = hooks;
    const types: string[] = [];
    const transactor = createTransactor(engine);
    const tell = createProviderEvents({
      transactor,
      logger: engine.logger,
      publish: async (_, { type }) => void types.push(type),
    });
    const change = { binding: 'test:main', place: 'test#0', provider: 'test', reason: null };
    const states = [false, true, true, false, false, true];
    for (const [index, isUnavailable] of states.entries()) {
      tell({ ...change, isUnavailable });
      const expected = [0, 1, 1, 2, 2, 3][index];
      await new Promise((resolve) => setTimeout(resolve, 50));
      await until(async () => types.length === expected);
    }
    expect(types).toEqual(['provider.down', 'provider.up', 'provider.down']);
  });
});
