import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { AppError } from '../../platform/errors.ts';
import { createLogger, silentLogger } from '../../platform/process/logger.ts';
import { createRefund } from '../../sandbox/stripe/objects/money.ts';
import type { ExecutionError } from '../../subgraphs/workflow/domain/execution.ts';
import {
  cancelQueue,
  createExecutionLifecycle,
  startQueue,
} from '../../subgraphs/workflow/executions/lifecycle.ts';
import { sweepExecutions } from '../../subgraphs/workflow/executions/sweep.ts';
import {
  refundFailed,
  refundQueue,
  refundWhenFailed,
  workAutomaticRefunds,
} from '../../subgraphs/workflow/payments/automatic-refunds.ts';
import { createPaymentOutbox, workPaymentEvents } from '../../subgraphs/workflow/payments/payment-events.ts';
import { createPaymentSweeper, enqueueLostJobs } from '../../subgraphs/workflow/payments/sweeper.ts';
import { anna, operator } from './callers.ts';
import { openPaymentEnvironment, type PaymentEnvironment } from './environment.ts';

/** What was paid for an execution that failed is given back: once, all that is left, and only when nobody wanted it so. */

let shop: PaymentEnvironment;
beforeAll(async () => {
  shop = await openPaymentEnvironment();
});
afterAll(() => shop?.close());

const PATIENCE = { timeout: 100_000 };
const AWAY: ExecutionError = { code: 'UNAVAILABLE', message: 'the upstream is away' };

async function bought() {
  const request = { templateCode: 'poster', userId: anna.id, parameters: { prompt: 'a fox' } };
  const { payment, sessionId } = await shop.payments.checkout(anna, {
    ...request,
    idempotencyKey: randomUUID(),
  });
  await shop.standIn.control.pay(sessionId);
  const { executionId } = await shop.payments.reconcile(anna, { id: payment.id, sessionId });
  if (executionId === null) throw new Error('what was paid for did not begin');
  return { id: payment.id, sessionId, executionId };
}

const ending = (status: 'FAILED' | 'CANCELLED', error: ExecutionError | null) =>
  ({ status, stage: 'ended', progress: 10, error, wasStarted: true }) as const;

async function failed() {
  const purchase = await bought();
  const ended = await shop.executions.markEnded(purchase.executionId, ending('FAILED', AWAY));
  expect(ended).toMatchObject({ status: 'FAILED' });
  return purchase;
}

async function read(id: string) {
  const [payment] = await shop.payments.byIds(operator, [id]);
  return payment;
}

async function countJobs(executionId: string, queue = refundQueue): Promise<number> {
  const text = `select count(*)::int as count from queue.jobs where queue = $1 and data->>'executionId' = $2`;
  const { rows } = await shop.database.pool.query<{ count: number }>(text, [queue, executionId]);
  return rows[0]?.count ?? 0;
}

/** What the stand-in has given back of a payment, newest first. */
function givenBack(paymentId: string): unknown[] {
  const refunds = shop.standIn.state.all('refund');
  return refunds
    .filter(({ metadata }) => (metadata as { payment_id?: string }).payment_id === paymentId)
    .map(({ amount }) => amount);
}

describe('the end of a paid execution', () => {
  it.each([
    ['that failed for a technical reason', ending('FAILED', AWAY), 1],
    ['that failed without a reason', ending('FAILED', null), 1],
    ['that moderation refused', ending('FAILED', { code: 'MODERATION_REFUSED', message: 'no' }), 1],
    ['that was cancelled', ending('CANCELLED', null), 0],
  ])('%s: it is written with its job, or without', async (_, end, jobs) => {
    const { executionId } = await bought();
    const also = refundWhenFailed(shop.queue);
    await Promise.all([1, 2, 3].map(() => shop.executions.markEnded(executionId, end, also)));
    expect(await countJobs(executionId)).toBe(jobs);
  });

  it('that nobody has bought has nothing to give back', async () => {
    const { executionId } = await bought();
    await shop.database.pool.query(
      'update workflow.payments set execution_id = null where execution_id = $1',
      [executionId],
    );
    await shop.executions.markEnded(executionId, ending('FAILED', AWAY), refundWhenFailed(shop.queue));
    expect(await countJobs(executionId)).toBe(0);
  });

  it('is not written when its job can not be', async () => {
    const { executionId } = await bought();
    const end = shop.executions.markEnded(executionId, ending('FAILED', AWAY), () =>
      Promise.reject(new Error('no queue')),
    );
    await expect(end).rejects.toThrow('no queue');
    expect((await shop.executions.byIds([executionId]))[0]?.status).toBe('PENDING');
  });
});

describe('a paid execution', () => {
  it('that could not be started in time is ended, and what was paid is given back', async () => {
    const { id, executionId } = await bought();
    const { database, queue, bus } = shop.commerce;
    const { executions: store, logger } = shop;
    // Media has no task of it, and no job would start one.
    await shop.database.pool.query('delete from queue.jobs');
    const media = { tasks: () => Promise.resolve([null]) } as never;
    const lifecycle = createExecutionLifecycle({ store, media, bus, logger, onEnd: refundWhenFailed(queue) });
    const prune = () => Promise.resolve();
    const sweep = { database, store, lifecycle, queue, logger, prune, overdueAfterMs: -1_000 };
    await sweepExecutions({ ...sweep, maxWaitMs: 60_000 }, new AbortController().signal);
    expect((await store.byIds([executionId]))[0]?.status).toBe('PENDING');
    expect(await countJobs(executionId, startQueue)).toBe(1);
    await sweepExecutions({ ...sweep, maxWaitMs: -1_000 }, new AbortController().signal);
    expect((await store.byIds([executionId]))[0]).toMatchObject({ status: 'FAILED', stage: 'not started' });
    await refundFailed(shop, executionId);
    expect(await read(id)).toMatchObject({ status: 'REFUNDED', amountRefunded: 100 });
  });

  it('that was refunded in full and still runs is cancelled though that job was lost', async () => {
    const { id, executionId } = await bought();
    const all = { reason: 'USER_REQUEST', amount: null, metadata: {}, idempotencyKey: null } as const;
    await shop.payments.refund(operator, id, all);
    expect(await countJobs(executionId, cancelQueue)).toBe(1);
    await shop.database.pool.query('delete from queue.jobs');
    await shop.sweeper.sweep();
    await shop.sweeper.sweep();
    expect(await countJobs(executionId, cancelQueue)).toBe(1);
    await shop.executions.markEnded(executionId, ending('CANCELLED', null));
    await shop.database.pool.query('delete from queue.jobs');
    await shop.sweeper.sweep();
    expect(await countJobs(executionId, cancelQueue)).toBe(0);
  });

  it('whose refund lost its job gets another one, until it is refunded', async () => {
    const { id, executionId } = await bought();
    await shop.executions.markEnded(executionId, ending('FAILED', AWAY), refundWhenFailed(shop.queue));
    await shop.sweeper.sweep();
    expect(await countJobs(executionId)).toBe(1);
    await shop.database.pool.query('delete from queue.jobs');
    const lines: unknown[] = [];
    const logger = { ...silentLogger(), warn: (...line: unknown[]) => void lines.push(line) };
    const enqueue = (autoRefund: boolean) => enqueueLostJobs({ ...shop.commerce, logger, autoRefund });
    await enqueue(false);
    expect([await countJobs(executionId), lines]).toEqual([0, []]);
    await enqueue(true);
    await enqueue(true);
    expect(lines).toEqual([
      [
        { queue: refundQueue, executions: expect.arrayContaining([{ executionId }]) as unknown[] },
        'jobs of paid executions are made again',
      ],
    ]);
    expect(await countJobs(executionId)).toBe(1);
    await refundFailed(shop, executionId);
    await shop.database.pool.query('delete from queue.jobs');
    await shop.sweeper.sweep();
    expect(await countJobs(executionId)).toBe(0);
    expect(givenBack(id)).toEqual([100]);
  });
});

it('the refund of one payment leaves that of another one due, whose job was lost', async () => {
  const [one, other] = [await bought(), await bought()];
  const also = refundWhenFailed(shop.queue);
  for (const { executionId } of [one, other]) {
    await shop.executions.markEnded(executionId, ending('FAILED', AWAY), also);
  }
  await shop.database.pool.query('delete from queue.jobs');
  await refundFailed(shop, one.executionId);
  await shop.sweeper.sweep();
  expect(await countJobs(one.executionId)).toBe(0);
  expect(await countJobs(other.executionId)).toBe(1);
  await refundFailed(shop, other.executionId);
  expect([givenBack(one.id), givenBack(other.id)]).toEqual([[100], [100]]);
});

it('what became of a payment is still told when the media service was away for a day', async () => {
  const { id } = await bought();
  const [after] = await shop.commerce.store.byIds([id]);
  if (after === undefined) throw new Error('the payment is gone');
  let isUnavailable = true;
  const told: string[] = [];
  const worker = await workPaymentEvents({
    queue: shop.queue,
    media: {
      async publishEvent(event) {
        if (isUnavailable) throw new AppError('UNAVAILABLE', 'the media service is away');
        told.push(event.type);
      },
    },
  });
  const outbox = createPaymentOutbox(shop.queue);
  const before = { ...after, status: 'PENDING' as const };
  await shop.commerce.database.transaction().execute((transaction) => outbox(transaction, before, after));
  const job = `queue = 'workflow.payment-event' and data->'data'->>'id' = '${id}'`;
  const triedTimes = async (count: number) => {
    const text = `select count(*)::int as count from queue.jobs where ${job} and state = 'waiting' and retries >= ${count}`;
    const { rows } = await shop.database.pool.query<{ count: number }>(text);
    return rows[0]?.count;
  };
  await expect.poll(() => triedTimes(1), PATIENCE).toBe(1);
  // A day of five minutes each.
  await shop.database.pool.query(`update queue.jobs set retries = 288, due_at = now() where ${job}`);
  await expect.poll(() => triedTimes(289), PATIENCE).toBe(1);
  isUnavailable = false;
  await shop.database.pool.query(`update queue.jobs set due_at = now() where ${job}`);
  await expect.poll(() => told, PATIENCE).toEqual(['payment.succeeded']);
  await worker.stop(1);
});

it('the sweep of payments comes by itself, again and again', async () => {
  let sweeps = 0;
  const sweeper = createPaymentSweeper({
    commerce: shop.commerce,
    logger: silentLogger(),
    everyMs: 5,
    enqueueLostJobs: async () => void (sweeps += 1),
  });
  sweeper.start();
  await expect.poll(() => sweeps, PATIENCE).toBeGreaterThan(1);
  await sweeper.stop();
});

it('the sweep of payments is waited for when its process stops', async () => {
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const sweeper = createPaymentSweeper({
    commerce: shop.commerce,
    logger: silentLogger(),
    enqueueLostJobs() {
      begun.resolve();
      return held.promise;
    },
  });
  const order: string[] = [];
  void sweeper.sweep().then(() => order.push('swept'));
  await begun.promise;
  const stopped = sweeper.stop().then(() => order.push('stopped'));
  held.resolve();
  await stopped;
  expect(order).toEqual(['swept', 'stopped']);
});

describe('the job of a failed execution', () => {
  it('refunds once, however often and at once it runs, and says why', async () => {
    const { id, executionId } = await failed();
    await Promise.all(Array.from({ length: 10 }, () => refundFailed(shop, executionId)));
    expect(await refundFailed(shop, executionId)).toBeUndefined();
    expect(await read(id)).toMatchObject({ status: 'REFUNDED', amountRefunded: 100 });
    expect(givenBack(id)).toEqual([100]);
    const { rows } = await shop.database.pool.query(
      'select reason, metadata, automatic, status from workflow.refunds where payment_id = $1',
      [id],
    );
    expect(rows).toEqual([
      {
        reason: 'TECHNICAL_ISSUE',
        metadata: { execution_id: executionId, failure: 'UNAVAILABLE' },
        automatic: true,
        status: 'succeeded',
      },
    ]);
  });

  it('refunds what is left after a refund that somebody asked for', async () => {
    const { id, executionId } = await failed();
    const part = { reason: 'USER_REQUEST', amount: 30, metadata: {}, idempotencyKey: null } as const;
    await shop.payments.refund(operator, id, part);
    await refundFailed(shop, executionId);
    expect(givenBack(id)).toEqual([70, 30]);
  });

  it('refunds the rest when somebody was faster', async () => {
    const { id, executionId } = await failed();
    // Another process has read that all is left, written so, and died; meanwhile a part was given back.
    await shop.database.pool.query(
      `insert into workflow.refunds (id, payment_id, amount, reason, automatic)
       values ($1, $2, 100, 'TECHNICAL_ISSUE', true)`,
      [randomUUID(), id],
    );
    const intent = (await read(id))?.ppPaymentIntentId ?? '';
    const form = { payment_intent: intent, amount: '30', metadata: { payment_id: id } };
    createRefund(shop.standIn, form);
    expect(await refundFailed(shop, executionId)).toEqual({ againInSeconds: 1 });
    expect(await refundFailed(shop, executionId)).toBeUndefined();
    expect(givenBack(id)).toEqual([70, 30]);
    expect(await read(id)).toMatchObject({ status: 'REFUNDED', amountRefunded: 100 });
  });

  it('is left to an operator, whom a log line informs, when the provider refuses a third time', async () => {
    const { id, executionId } = await failed();
    const lines: string[] = [];
    const logger = createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } });
    shop.standIn.control.fail({ match: /^POST refunds$/, times: 3, status: 400 });
    const refused = () => refundFailed({ ...shop, logger }, executionId);
    expect([await refused(), await refused()]).toEqual([{ againInSeconds: 1 }, { againInSeconds: 1 }]);
    expect(lines).toEqual([]);
    expect(await refused()).toBeUndefined();
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { level: 50, paymentId: id, msg: expect.stringContaining('could not be given back') },
    ]);
    expect(givenBack(id)).toEqual([]);
    const given = await failed();
    await refundFailed({ ...shop, logger }, given.executionId);
    expect(lines[1]).toContain('is given back');
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ level: 30, paymentId: given.id, amount: 100 });
  });

  it('is left to an operator when the provider does not know the payment for a week', async () => {
    const { id, executionId } = await bought();
    const also = refundWhenFailed(shop.queue);
    await shop.executions.markEnded(executionId, ending('FAILED', AWAY), also);
    const { pool } = shop.database;
    await pool.query("update workflow.payments set pp_session_id = 'cs_elsewhere' where id = $1", [id]);
    const lines: string[] = [];
    const logger = createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } });
    const isDue = async () => {
      const text = 'select refund_due as "isDue" from workflow.payments where id = $1';
      return (await pool.query<{ isDue: boolean }>(text, [id])).rows[0]?.isDue;
    };
    // The key may be that of another account, by a mistake that somebody sees.
    expect(await refundFailed({ ...shop, logger }, executionId)).toEqual({ againInSeconds: 3_600 });
    expect(await isDue()).toBe(true);
    const week = "update workflow.executions set ended_at = now() - interval '7 days' where id = $1";
    await pool.query(week, [executionId]);
    expect(await refundFailed({ ...shop, logger }, executionId)).toBeUndefined();
    expect(await isDue()).toBe(false);
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { level: 40, paymentId: id, msg: expect.stringContaining('does not know') },
      { level: 50, paymentId: id, msg: expect.stringContaining('could not be given back') },
    ]);
  });

  it('has nothing to give back where nothing was charged', async () => {
    const opened = await shop.payments.checkout(anna, {
      templateCode: 'poster',
      userId: anna.id,
      parameters: { prompt: 'a gift' },
      idempotencyKey: null,
    });
    shop.standIn.state.get('checkout.session', opened.sessionId)['amount_total'] = 0;
    await shop.standIn.control.pay(opened.sessionId);
    const { id, executionId, amount } = await shop.payments.reconcile(anna, {
      id: opened.payment.id,
      sessionId: null,
    });
    expect(amount).toBe(0);
    const also = refundWhenFailed(shop.queue);
    await shop.executions.markEnded(executionId ?? '', ending('FAILED', AWAY), also);
    expect(await refundFailed(shop, executionId ?? '')).toBeUndefined();
    const { rows } = await shop.database.pool.query(
      'select refund_due as "isDue" from workflow.payments where id = $1',
      [id],
    );
    expect([rows, givenBack(id)]).toEqual([[{ isDue: false }], []]);
  });

  it('comes back while the provider does not answer', async () => {
    const { id, executionId } = await failed();
    shop.standIn.control.fail({ match: /^POST refunds$/, times: 3, status: 500 });
    expect(await refundFailed(shop, executionId)).toEqual({ againInSeconds: 30 });
    expect(givenBack(id)).toEqual([]);
    shop.standIn.control.fail({ match: /^POST refunds$/, times: 3, status: 0, after: true });
    await refundFailed(shop, executionId);
    await refundFailed(shop, executionId);
    expect(givenBack(id)).toEqual([100]);
  });

  it('is worked by a queue, and has nothing to do for what was not bought, has not failed, or names nothing', async () => {
    const worker = await workAutomaticRefunds(shop);
    const unsold = await bought();
    const { id, executionId } = await failed();
    const jobs = [{}, { executionId: randomUUID() }, { executionId: unsold.executionId }, { executionId }];
    for (const data of jobs) {
      await shop.commerce.database
        .transaction()
        .execute((transaction) => shop.queue.enqueue(transaction, { queue: refundQueue, data }));
    }
    shop.queue.wake(refundQueue);
    await expect.poll(() => givenBack(id), PATIENCE).toEqual([100]);
    const open = `select from queue.jobs where queue = $1 and state in ('waiting', 'active', 'failed')
      and created_at > now() - interval '1 minute' and coalesce(data->>'executionId', $2) = any($3::text[])`;
    const named = [executionId, unsold.executionId];
    const left = async () =>
      (await shop.database.pool.query(open, [refundQueue, executionId, named])).rowCount;
    await expect.poll(left, PATIENCE).toBe(0);
    await worker.stop(1);
    expect(givenBack(unsold.id)).toEqual([]);
  });

  it('is not taken for refused when it is our own mistake', async () => {
    const { executionId } = await failed();
    const readCheckoutState = () => Promise.reject(new TypeError('a mistake'));
    const commerce = { ...shop.commerce, provider: { ...shop.commerce.provider, readCheckoutState } };
    await expect(refundFailed({ ...shop, commerce }, executionId)).rejects.toThrow('a mistake');
  });

  it('leaves to the bank what is disputed, and is not repeated when the bank sends the money back', async () => {
    const disputed = await failed();
    await shop.standIn.control.dispute(disputed.sessionId);
    await refundFailed(shop, disputed.executionId);
    expect(givenBack(disputed.id)).toEqual([]);
    const sentBack = await failed();
    await refundFailed(shop, sentBack.executionId);
    const [refund] = shop.standIn.state
      .all('refund')
      .filter(({ metadata }) => (metadata as { payment_id?: string }).payment_id === sentBack.id);
    await shop.standIn.control.failRefund(refund?.id ?? '');
    await expect.poll(async () => (await read(sentBack.id))?.status, PATIENCE).toBe('COMPLETED');
    await refundFailed(shop, sentBack.executionId);
    expect(givenBack(sentBack.id)).toEqual([100]);
  });
});
