import { randomUUID } from 'node:crypto';

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';

import { anonymousCaller, type Caller } from '../../platform/access/caller.ts';
import { databaseAway } from '../../platform/database-away.ts';
import { AppError } from '../../platform/errors.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { createRefund } from '../../sandbox/stripe/objects/money.ts';
import type { Payment } from '../../subgraphs/workflow/domain/payment.ts';
import { cancelQueue } from '../../subgraphs/workflow/executions/lifecycle.ts';
import { checkout } from '../../subgraphs/workflow/payments/checkout.ts';
import { processEvent } from '../../subgraphs/workflow/payments/events.ts';
import type { PaymentOutbox } from '../../subgraphs/workflow/payments/payment-events.ts';
import { PayProviderError } from '../../subgraphs/workflow/payments/provider/pay-provider.ts';
import { paymentTopic, reconcile, type ReconcileStep } from '../../subgraphs/workflow/payments/reconcile.ts';
import { refund } from '../../subgraphs/workflow/payments/refunds.ts';
import { createPaymentService } from '../../subgraphs/workflow/payments/service.ts';
import { createPaymentSweeper } from '../../subgraphs/workflow/payments/sweeper.ts';
import { forgetParameters } from '../../subgraphs/workflow/personal-data/erasure.ts';
import { until } from '../kit/clients/requests.ts';
import { anna, ben, key, operator } from './callers.ts';
import { openPaymentEnvironment, type PaymentEnvironment } from './environment.ts';

/** Money truth and ours: whatever order, number or loss of redirects and events, they agree, and nothing starts twice. */

let shop: PaymentEnvironment;
beforeAll(async () => {
  shop = await openPaymentEnvironment();
});
afterAll(() => shop?.close());
afterEach(() => {
  vi.useRealTimers();
  shop.onStep = () => undefined;
});

/** A test may have a shop of its own, so that it can be beside others while it waits for a provider that is down. */
const it = test.extend<{ own: PaymentEnvironment }>({
  // oxlint-disable-next-line eslint/no-empty-pattern -- Vitest reads the pattern
  own: async ({}, use) => {
    const own = await openPaymentEnvironment();
    await use(own);
    await own.close();
  },
});

const PATIENCE = { timeout: 100_000 };

async function bought(at = shop, parameters: object = { prompt: 'a fox' }) {
  const request = { templateCode: 'poster', userId: anna.id, parameters: parameters as never };
  return at.payments.checkout(anna, { ...request, idempotencyKey: randomUUID() });
}

const read = async (id: string, at = shop): Promise<Payment> => {
  const [payment] = await at.payments.byIds(operator, [id]);
  if (!payment) throw new Error(`no payment ${id}`);
  return payment;
};
const look = (id: string, sessionId: string | null = null, at = shop) =>
  at.payments.reconcile(anna, { id, sessionId });
/** Who meets a crowd is told to try again; null for them. */
const refusedForNow = (thrown: unknown): null => {
  const said = databaseAway(thrown) ?? thrown;
  if (said instanceof AppError && said.code === 'UNAVAILABLE') return null;
  throw thrown;
};
const refundAll = { reason: 'USER_REQUEST', amount: null, metadata: {}, idempotencyKey: null } as const;

describe('a checkout', () => {
  it('is for what can run: parameters and template are checked before anything is sold', async () => {
    await expect(bought(shop, { prompt: 7 })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'parameters.prompt',
    });
    const unknown = { templateCode: 'none', userId: anna.id, parameters: {}, idempotencyKey: null };
    await expect(shop.payments.checkout(anna, unknown)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await shop.counts()).executions).toBe(0);
  });

  it('has the e-mail address of a buyer who has signed in, and of nobody else', async () => {
    const readEmail = (sessionId: string) =>
      shop.standIn.state.get('checkout.session', sessionId)['customer_email'];
    expect(readEmail((await bought()).sessionId)).toBe('anna@example.org');
    const request = { templateCode: 'poster', userId: 'somebody', parameters: {}, idempotencyKey: null };
    const { sessionId } = await shop.payments.checkout(anonymousCaller('test', '192.0.2.1'), request);
    expect(readEmail(sessionId)).toBeNull();
    const odd = await shop.payments.checkout(ben, { ...request, userId: ben.id });
    expect(readEmail(odd.sessionId)).toBeNull();
  });

  it('has an id by its time, and takes inputs only that can be fetched, of whom it will belong to', async () => {
    const asked: unknown[] = [];
    const media = { checkStart: async (...given: unknown[]) => void asked.push(given.at(-1)) };
    const request = { templateCode: 'poster', userId: anna.id, parameters: {}, idempotencyKey: null };
    const { payment } = await checkout({ ...shop.commerce, media }, anna, request);
    expect(asked).toEqual([{ fetchInputs: true, generators: null, owner: anna.id, sold: true }]);
    expect(payment.id).toMatch(/^pay_0[\da-z]{8}[\da-f]{32}$/);
    expect((payment.expiresAt.getTime() - Date.now()) / 1_000).toBeCloseTo(3_600, -2);
  });

  it('under one key is one payment; another request under it is refused', async () => {
    const request = {
      templateCode: 'poster',
      userId: anna.id,
      parameters: { prompt: 'x' },
      idempotencyKey: 'once',
    };
    const all = await Promise.all(Array.from({ length: 5 }, () => shop.payments.checkout(anna, request)));
    expect(new Set(all.map(({ payment }) => payment.id)).size).toBe(1);
    expect(new Set(all.map(({ sessionId }) => sessionId)).size).toBe(1);
    const other = { ...request, parameters: { prompt: 'y' } };
    await expect(shop.payments.checkout(anna, other)).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  it('offers what is switched on, and is of what was paid with taxes and promotion codes', async () => {
    const request = { templateCode: 'poster', userId: anna.id, parameters: {}, idempotencyKey: null };
    const switches = { receipts: true, tax: true, promotionCodes: true };
    const opened = await checkout({ ...shop.commerce, switches }, anna, request);
    const session = shop.standIn.state.get('checkout.session', opened.sessionId);
    expect(session).toMatchObject({
      allow_promotion_codes: true,
      automatic_tax: { enabled: true },
      invoice_creation: { enabled: true },
    });
    session['amount_total'] = 80;
    await shop.standIn.control.pay(opened.sessionId);
    expect(await look(opened.payment.id)).toMatchObject({ status: 'COMPLETED', amount: 80 });
    const { payment } = await shop.payments.refund(operator, opened.payment.id, refundAll);
    expect(payment).toMatchObject({ status: 'REFUNDED', amountRefunded: 80 });
    const plain = shop.standIn.state.get('checkout.session', (await bought()).sessionId);
    expect(plain).toMatchObject({ allow_promotion_codes: null, automatic_tax: { enabled: false } });
  });

  it('is of the currency in which it was paid, where its price has several', async () => {
    const { payment, sessionId } = await bought();
    expect(payment).toMatchObject({ amount: 100, currency: 'usd' });
    Object.assign(shop.standIn.state.get('checkout.session', sessionId), {
      amount_total: 90,
      currency: 'eur',
    });
    await shop.standIn.control.pay(sessionId);
    const paid = { status: 'COMPLETED', amount: 90, currency: 'eur' };
    expect(await look(payment.id, sessionId)).toMatchObject(paid);
  });

  it('starts nothing while it is not paid', async () => {
    const { payment, sessionId } = await bought();
    expect(await look(payment.id, sessionId)).toMatchObject({
      status: 'PENDING',
      executionId: null,
      amount: 100,
    });
  });

  it('of somebody else is not there, and another session does not fit', async () => {
    const [one, other] = [await bought(), await bought()];
    await expect(look(one.payment.id, other.sessionId)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    await expect(shop.payments.reconcile(ben, { id: one.payment.id, sessionId: null })).rejects.toMatchObject(
      {
        code: 'NOT_FOUND',
      },
    );
    expect(await shop.payments.byIds(ben, [one.payment.id])).toEqual([null]);
    const mine = await shop.payments.list(anna, { userId: null, first: 100, after: null });
    expect(mine.items.map(({ id }) => id)).toContain(one.payment.id);
    expect((await shop.payments.list(ben, { userId: anna.id, first: 100, after: null })).items).toEqual([]);
  });

  it('is listed for its service, for administrators and for Kiln itself, whoever bought it', async () => {
    const { payment } = await bought();
    for (const all of [key, { ...ben, scopes: ['admin'] }, operator]) {
      const { items } = await shop.payments.list(all, { userId: null, first: 100, after: null });
      expect(items.map(({ id }) => id)).toContain(payment.id);
    }
  });
});

describe('a payment', () => {
  it('of which 80 redirects and 80 events tell at once has one execution and one task', async () => {
    const before = await shop.counts();
    const told = shop.hookAnswers.length;
    const { payment, sessionId } = await bought();
    shop.standIn.events.hold();
    await shop.standIn.control.pay(sessionId);
    const completed = (id: string) =>
      shop.standIn.state.get('event', id)['type'] === 'checkout.session.completed';
    shop.standIn.events.release((ids) => [
      ...ids,
      ...Array.from({ length: 80 }, () => ids.filter(completed)).flat(),
    ]);
    const lookUntilLetIn = () =>
      until(
        () => look(payment.id, sessionId).catch(refusedForNow),
        (answer) => answer !== null,
      );
    const answers = await Promise.all(Array.from({ length: 80 }, lookUntilLetIn));
    expect(new Set(answers.map((answer) => answer?.executionId)).size).toBe(1);
    await expect.poll(() => shop.hookAnswers.slice(told).includes(200), PATIENCE).toBe(true);
    // Those that are still on their way would be a crowd for the tests after this one.
    await expect.poll(() => shop.database.pool.waitingCount, PATIENCE).toBe(0);
    expect((await read(payment.id)).status).toBe('COMPLETED');
    const after = await shop.counts();
    expect([after.executions - before.executions, after.jobs - before.jobs]).toEqual([1, 1]);
  });

  it('is written once for each change, however often somebody looks', async () => {
    const { payment, sessionId } = await bought();
    const lookTwice = async () => {
      const first = await look(payment.id, sessionId);
      const again = await look(payment.id, sessionId);
      expect(again).toEqual(first);
      return first?.version;
    };
    const open = await lookTwice();
    await shop.standIn.control.pay(sessionId);
    const paid = await lookTwice();
    await shop.payments.refund(operator, payment.id, { ...refundAll, amount: 30 });
    const refunded = await lookTwice();
    expect(new Set([open, paid, refunded]).size).toBe(3);
  });

  it.concurrent('is completed by the event alone, although four times nothing could be asked', async ({
    own,
    expect,
  }) => {
    const { payment, sessionId } = await bought(own);
    own.standIn.control.fail({ match: /^GET checkout\/sessions\/\*?/, times: 12, status: 500 });
    await own.standIn.control.pay(sessionId);
    await expect.poll(async () => (await read(payment.id, own)).status, PATIENCE).toBe('COMPLETED');
    expect((await read(payment.id, own)).executionId).not.toBeNull();
  });

  it.concurrent('whose event can not be processed is written down with the reason, until it is', async ({
    own,
    expect,
  }) => {
    const { payment, sessionId } = await bought(own);
    const errors = async (): Promise<readonly (string | null)[]> => {
      const repeated = `select last_error as why from workflow.pay_events where attempts > 1`;
      const { rows } = await own.database.pool.query<{ why: string | null }>(repeated);
      return rows.map(({ why }) => why);
    };
    own.standIn.control.fail({ match: /^GET /, times: Infinity, status: 500 });
    await own.standIn.control.pay(sessionId);
    await expect.poll(errors, PATIENCE).toContainEqual(expect.any(String));
    own.standIn.control.heal();
    await expect.poll(async () => (await read(payment.id, own)).status, PATIENCE).toBe('COMPLETED');
    // An event is closed after what it has changed.
    await expect.poll(errors, PATIENCE).not.toContainEqual(expect.any(String));
    expect(await errors()).toContain(null);
  });

  it.concurrent('waits out a provider that is down, also under concurrent calls, and loses nothing', async ({
    own,
    expect,
  }) => {
    const { payment, sessionId } = await bought(own);
    const before = await own.counts();
    own.standIn.control.fail({ match: /^GET /, times: Infinity, status: 0 });
    await own.standIn.control.pay(sessionId);
    const refused = own.hookAnswers.length;
    await expect(look(payment.id, sessionId, own)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(own.payments.cancel(anna, { id: payment.id, sessionId })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    await own.sweeper.sweep();
    await expect.poll(() => own.hookAnswers.slice(refused).includes(500), PATIENCE).toBe(true);
    expect(await read(payment.id, own)).toMatchObject({ status: 'PENDING', executionId: null });
    own.standIn.control.heal();
    await expect.poll(async () => (await read(payment.id, own)).status, PATIENCE).toBe('COMPLETED');
    const after = await own.counts();
    expect([after.executions - before.executions, after.jobs - before.jobs]).toEqual([1, 1]);
  });

  it('that was given back before we heard of it starts nothing', async () => {
    const { payment, sessionId } = await bought();
    shop.standIn.events.hold();
    await shop.standIn.control.pay(sessionId);
    const session = shop.standIn.state.get('checkout.session', sessionId);
    createRefund(shop.standIn, { payment_intent: String(session['payment_intent']) });
    const before = await shop.counts();
    shop.standIn.events.release((ids) => ids.toReversed());
    await expect.poll(async () => (await read(payment.id)).status, PATIENCE).toBe('REFUNDED');
    expect(await shop.counts()).toEqual(before);
    expect(await look(payment.id)).toMatchObject({ status: 'REFUNDED', executionId: null });
  });

  it('by a method that takes its time is pending, then completed or failed', async () => {
    for (const [isGood, status] of [
      [true, 'COMPLETED'],
      [false, 'FAILED'],
    ] as const) {
      const { payment, sessionId } = await bought();
      await shop.standIn.control.pay(sessionId, 'delayed');
      expect(await look(payment.id)).toMatchObject({ status: 'PENDING' });
      await shop.standIn.control.settle(sessionId, isGood);
      await expect.poll(async () => (await read(payment.id)).status, PATIENCE).toBe(status);
    }
  });

  it('that is cancelled can not be paid any more; one that was paid stays so', async () => {
    const open = await bought();
    const cancel = (id: string) => shop.payments.cancel(anna, { id, sessionId: '{CHECKOUT_SESSION_ID}' });
    expect(await cancel(open.payment.id)).toMatchObject({ status: 'CANCELLED' });
    await expect(shop.standIn.control.pay(open.sessionId)).rejects.toThrow('not open');
    const paid = await bought();
    await shop.standIn.control.pay(paid.sessionId);
    expect(await cancel(paid.payment.id)).toMatchObject({ status: 'COMPLETED' });
  });

  it('that nobody told us of is found by the sweep', async () => {
    const { payment, sessionId } = await bought();
    shop.standIn.events.hold();
    await shop.standIn.control.pay(sessionId);
    await shop.sweeper.sweep();
    expect(await read(payment.id)).toMatchObject({ status: 'COMPLETED' });
    shop.standIn.events.release(() => []);
  });

  it('that is disputed says so, and starts nothing any more', async () => {
    const { payment, sessionId } = await bought();
    shop.standIn.events.hold();
    await shop.standIn.control.pay(sessionId);
    await shop.standIn.control.dispute(sessionId);
    shop.standIn.events.release((ids) => ids.toReversed());
    await expect.poll(async () => (await read(payment.id)).disputed, PATIENCE).toBe(true);
    expect((await read(payment.id)).executionId).toBeNull();
    await shop.standIn.control.dispute(sessionId, 'won');
    await expect.poll(async () => (await read(payment.id)).executionId, PATIENCE).not.toBeNull();
  });
});

it('a payment that was disputed more than once is disputed until the last of them is won', async () => {
  const { payment, sessionId } = await bought();
  await shop.standIn.control.pay(sessionId);
  await shop.standIn.control.dispute(sessionId);
  const { state } = shop.standIn;
  const intent = state.get('checkout.session', sessionId)['payment_intent'];
  const first = state.all('dispute').find((one) => one['payment_intent'] === intent);
  if (first === undefined) throw new Error('there is no dispute');
  state.add('dispute', { ...first, id: 'du_newer', status: 'won' });
  expect(await look(payment.id)).toMatchObject({ disputed: true });
  Object.assign(first, { status: 'won' });
  expect(await look(payment.id)).toMatchObject({ disputed: false });
});

describe('the sweep', () => {
  const change = (text: string, ...values: unknown[]) => shop.database.pool.query(text, values);

  it('ends a checkout that never got its page, once its time is over, and reports it', async () => {
    const { payment } = await bought();
    const told: string[] = [];
    const outbox: PaymentOutbox = async (_, before, after) => {
      if (after.id === payment.id) told.push(`${before.status} ${after.status}`);
    };
    const counted: string[] = [];
    const countStatus = ({ status }: { readonly status: string }) => void counted.push(status);
    const published: unknown[] = [];
    const stop = shop.commerce.bus.listen(paymentTopic, (id) => void published.push(id));
    const sweeper = createPaymentSweeper({
      commerce: { ...shop.commerce, outbox, countStatus },
      logger: silentLogger(),
      overdueMs: 0,
      enqueueLostJobs: () => Promise.resolve(),
    });
    await change(
      'update workflow.payments set pp_session_id = null, pp_url = null where id = $1',
      payment.id,
    );
    await sweeper.sweep();
    expect(await read(payment.id)).toMatchObject({ status: 'PENDING' });
    await change(
      "update workflow.payments set expires_at = now() - interval '1 second' where id = $1",
      payment.id,
    );
    await sweeper.sweep();
    expect(await read(payment.id)).toMatchObject({ status: 'CANCELLED' });
    expect(told).toEqual(['PENDING CANCELLED']);
    expect(counted).toContain('CANCELLED');
    await expect.poll(() => published, PATIENCE).toContain(payment.id);
    stop();
  });

  it('ends a checkout that the provider has no more, once nobody can have paid it', async () => {
    const { payment } = await bought();
    await change("update workflow.payments set pp_session_id = 'cs_gone' where id = $1", payment.id);
    const end = async (interval: string) => {
      await change(
        'update workflow.payments set expires_at = now() - $2::interval where id = $1',
        payment.id,
        interval,
      );
      return look(payment.id).catch(({ code }: AppError) => code);
    };
    expect(await end('6 days')).toBe('NOT_FOUND');
    expect(await read(payment.id)).toMatchObject({ status: 'PENDING' });
    // What was typed for it is forgotten afterwards, however short prompts are kept: each payment is passed once.
    const forget = async (age: string) => {
      await change(
        'update workflow.payments set created_at = now() - $2::interval where id = $1',
        payment.id,
        age,
      );
      await forgetParameters(shop.commerce.database, 1, 1_000);
      return (await read(payment.id)).parameters;
    };
    expect(await forget('7 days 2 hours')).toMatchObject({ prompt: 'a fox' });
    expect(await end('8 days')).toMatchObject({ status: 'CANCELLED' });
    expect(await forget('8 days 1 hour')).toEqual({});
  });

  it('goes on after a payment or an event that fails, and ends where the provider is away', async () => {
    const { payment } = await bought();
    const lines: string[] = [];
    const logger = { ...silentLogger(), warn: (_: unknown, line?: string) => void lines.push(line ?? '') };
    const looked: string[] = [];
    let isAway = false;
    const { store, provider } = shop.commerce;
    async function* pendingSince() {
      yield* [{ id: 'pay_none' }, { id: payment.id }, { id: payment.id }] as never[];
    }
    async function* undelivered() {
      const event = { type: 'checkout.session.completed', createdAt: new Date(), isLive: false };
      const refersTo = { kind: 'intent', paymentIntentId: 'pi_none', paymentId: payment.id } as const;
      for (let count = 0; count < 2; count += 1) yield { ...event, id: `evt_${randomUUID()}`, refersTo };
    }
    const sweeper = createPaymentSweeper({
      commerce: {
        ...shop.commerce,
        store: { ...store, pendingSince },
        provider: {
          ...provider,
          undelivered,
          async readCheckoutState(sessionId) {
            looked.push('payment');
            if (isAway) throw new PayProviderError('UNAVAILABLE', 'away');
            return provider.readCheckoutState(sessionId);
          },
          async sessionOfIntent() {
            looked.push('event');
            throw new PayProviderError(isAway ? 'UNAVAILABLE' : 'REFUSED', 'no such intent');
          },
        },
      },
      logger,
      enqueueLostJobs: () => Promise.reject(new Error('no jobs')),
    });
    await sweeper.sweep();
    expect(looked.splice(0)).toEqual(['payment', 'payment', 'event', 'event']);
    expect(lines.splice(0)).toEqual([
      'jobs that were lost could not be made again',
      'a payment could not be looked at',
      'an event could not be processed',
      'an event could not be processed',
    ]);
    isAway = true;
    await sweeper.sweep();
    expect(looked.splice(0)).toEqual(['payment', 'event']);
    await sweeper.stop();
    await sweeper.sweep();
    expect(looked).toEqual([]);
  });

  it('looks at payments of five minutes and more where nothing else is said', async () => {
    const asked: Date[] = [];
    const { store } = shop.commerce;
    const pendingSince: typeof store.pendingSince = (before) => {
      asked.push(before);
      return store.pendingSince(new Date(0));
    };
    await createPaymentSweeper({
      commerce: { ...shop.commerce, store: { ...store, pendingSince } },
      logger: silentLogger(),
      enqueueLostJobs: () => Promise.resolve(),
    }).sweep();
    expect(asked).toHaveLength(1);
    expect((Date.now() - Number(asked[0])) / 1_000).toBeCloseTo(300, -2);
  });

  it('comes every two minutes, and says when it could not begin', async () => {
    const lines: unknown[] = [];
    const logger = { ...silentLogger(), warn: (_: unknown, line?: string) => void lines.push(line) };
    const database = {} as typeof shop.commerce.database;
    const commerce = { ...shop.commerce, database };
    const sweeper = createPaymentSweeper({ commerce, logger, enqueueLostJobs: () => Promise.resolve() });
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    sweeper.start();
    await vi.advanceTimersByTimeAsync(119_999);
    expect(lines).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(lines).toEqual(['the sweep of payments could not begin']);
    await sweeper.stop();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(lines).toHaveLength(1);
  });

  it('processes events that did not reach us, on whatever page of the list they are', async () => {
    const { payment, sessionId } = await bought();
    await shop.standIn.control.pay(sessionId);
    await expect.poll(async () => (await read(payment.id)).status, PATIENCE).toBe('COMPLETED');
    const { ppPaymentIntentId } = await read(payment.id);
    const { state, events } = shop.standIn;
    events.hold();
    createRefund(shop.standIn, { payment_intent: ppPaymentIntentId ?? '' });
    // Newer ones of other apps of the account, which nobody takes.
    for (let number = 0; number < 250; number += 1) {
      state.add('event', { ...state.all('event')[0], id: `evt_${number}`, type: 'plan.created' } as never);
    }
    await shop.sweeper.sweep();
    expect(await read(payment.id)).toMatchObject({ status: 'REFUNDED', amountRefunded: 100 });
    events.release(() => []);
    for (let number = 0; number < 250; number += 1) state.remove('event', `evt_${number}`);
  });

  it('finds what was paid behind any number of checkouts that stay open', async () => {
    await change(
      `insert into workflow.payments (id, owner, user_id, template_code, parameters, start, task_owner, amount,
         currency, price_id, expires_at, fingerprint)
       select 'pay_' || lpad(n::text, 9, '0'), 'usr_anna', 'usr_anna', 'poster', '{}', '{}', 'usr_anna', 100,
         'usd', 'price_x', now() + interval '1 hour', '' from generate_series(1, 450) n`,
    );
    const { payment, sessionId } = await bought();
    shop.standIn.events.hold();
    await shop.standIn.control.pay(sessionId);
    await shop.sweeper.sweep();
    expect(await read(payment.id)).toMatchObject({ status: 'COMPLETED' });
    shop.standIn.events.release(() => []);
    await change("delete from workflow.payments where price_id = 'price_x'");
  });
});

describe('a process that dies', () => {
  const STEPS: readonly ReconcileStep[] = [
    'read',
    'asked',
    'execution written',
    'payment written',
    'committed',
  ];

  it.each(STEPS)('after "%s" leaves nothing half-done, and the next look ends it once', async (step) => {
    const { payment, sessionId } = await bought();
    shop.standIn.events.hold();
    await shop.standIn.control.pay(sessionId);
    const before = await shop.counts();
    shop.onStep = (at) => {
      if (at === step) throw new Error(`died after ${at}`);
    };
    await expect(look(payment.id)).rejects.toThrow(`died after ${step}`);
    const between = await read(payment.id);
    expect(between.executionId === null).toBe(between.status === 'PENDING');
    shop.onStep = () => undefined;
    shop.standIn.events.release();
    expect(await look(payment.id)).toMatchObject({ status: 'COMPLETED' });
    await expect.poll(async () => (await shop.counts()).executions, PATIENCE).toBe(before.executions + 1);
    expect((await shop.counts()).jobs).toBe(before.jobs + 1);
  });
});

describe('a refund', () => {
  async function paid() {
    const checkout = await bought();
    await shop.standIn.control.pay(checkout.sessionId);
    await look(checkout.payment.id);
    return checkout.payment.id;
  }

  it('in part leaves the payment completed, in full refunds it', async () => {
    const id = await paid();
    const { refund, payment } = await shop.payments.refund(operator, id, { ...refundAll, amount: 1 });
    expect(refund).toMatchObject({ amount: 1, status: 'succeeded' });
    expect(payment).toMatchObject({ status: 'COMPLETED', amountRefunded: 1 });
    expect((await shop.payments.refund(operator, id, { ...refundAll, amount: 99 })).payment).toMatchObject({
      status: 'REFUNDED',
      amountRefunded: 100,
    });
  });

  it('cancels what still runs when it is of everything, and only then', async () => {
    const id = await paid();
    const jobs = async () => {
      const text = "select data from queue.jobs where queue = $1 and data->>'executionId' = $2";
      const values = [cancelQueue, (await read(id)).executionId];
      return (await shop.database.pool.query(text, values)).rows.length;
    };
    await shop.payments.refund(operator, id, { ...refundAll, amount: 40 });
    expect(await jobs()).toBe(0);
    await shop.payments.refund(operator, id, refundAll);
    await look(id);
    expect(await jobs()).toBe(1);
    const [refunds] = await shop.payments.listRefunds([id]);
    expect(refunds).toMatchObject([
      { amount: 40, reason: 'USER_REQUEST', status: 'succeeded' },
      { amount: 60, reason: 'USER_REQUEST', status: 'succeeded' },
    ]);
  });

  it("on the provider's own page is listed too, and how it ends", async () => {
    const id = await paid();
    const { ppPaymentIntentId } = await read(id);
    const listed = async () => (await shop.payments.listRefunds([id]))[0];
    const form = { payment_intent: String(ppPaymentIntentId), amount: '30' };
    const first = createRefund(shop.standIn, form);
    await expect
      .poll(listed, PATIENCE)
      .toMatchObject([{ id: first.id, amount: 30, reason: null, status: 'succeeded' }]);
    await shop.payments.refund(operator, id, { ...refundAll, amount: 20, reason: 'TECHNICAL_ISSUE' });
    createRefund(shop.standIn, { ...form, reason: 'duplicate' });
    await expect.poll(async () => (await listed())?.length, PATIENCE).toBe(3);
    const amounts = (await listed())?.map(({ amount, reason }) => `${amount} ${reason}`);
    expect(amounts?.toSorted()).toEqual(['20 TECHNICAL_ISSUE', '30 DUPLICATE', '30 null']);
    await shop.standIn.control.failRefund(first.id);
    await expect
      .poll(async () => (await listed())?.find(({ id: made }) => made === first.id)?.status, PATIENCE)
      .toBe('failed');
    // The payment is reconciled after its refunds.
    await expect.poll(() => read(id), PATIENCE).toMatchObject({ status: 'COMPLETED', amountRefunded: 50 });
  });

  it("of what is left counts what was given back on the provider's own page, though no event has told of it", async () => {
    const id = await paid();
    const intent = String((await read(id)).ppPaymentIntentId);
    shop.standIn.events.hold();
    createRefund(shop.standIn, { payment_intent: intent, amount: '30' });
    const { refund, payment } = await shop.payments.refund(operator, id, refundAll);
    shop.standIn.events.release(() => []);
    expect(refund.amount).toBe(70);
    expect(payment).toMatchObject({ status: 'REFUNDED', amountRefunded: 100 });
  });

  it('under one key is one refund', async () => {
    const id = await paid();
    const request = { ...refundAll, amount: 10, idempotencyKey: 'once' };
    const [first, second] = [
      await shop.payments.refund(operator, id, request),
      await shop.payments.refund(operator, id, request),
    ];
    expect(second.refund).toEqual(first.refund);
    expect(second.payment.amountRefunded).toBe(10);
    for (const other of [{ amount: 20 }, { reason: 'DUPLICATE' as const }, { metadata: { ticket: 1 } }]) {
      await expect(shop.payments.refund(operator, id, { ...request, ...other })).rejects.toMatchObject({
        code: 'IDEMPOTENCY_CONFLICT',
      });
    }
  });

  it('is looked for at the provider before it is made only where it may have been asked for before', async () => {
    const id = await paid();
    const { provider } = shop.commerce;
    const looked: string[] = [];
    const findRefund: typeof provider.findRefund = (request) => {
      looked.push(request.refundId);
      return provider.findRefund(request);
    };
    const commerce = { ...shop.commerce, provider: { ...provider, findRefund } };
    const [payment] = await shop.commerce.store.byIds([id]);
    const part = { ...refundAll, amount: 10 };
    const give = (change: object) => refund(commerce, payment as never, { ...part, ...change });
    await give({});
    expect(looked).toEqual([]);
    await give({ idempotencyKey: 'looked for' });
    await give({ isAutomatic: true });
    expect(looked).toHaveLength(2);
    // What has its answer is not asked for again.
    await give({ idempotencyKey: 'looked for' });
    await give({ isAutomatic: true, amount: 20 });
    expect(looked).toHaveLength(2);
  });

  it.each([1, 3])(
    'whose answer was lost is not made again when its key is forgotten, asked %i times',
    async (times) => {
      const id = await paid();
      const part = { ...refundAll, amount: 30, idempotencyKey: 'lost' };
      shop.standIn.control.fail({ match: /^POST refunds$/, times: 3, status: 0, after: true });
      await expect(shop.payments.refund(operator, id, part)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      const { state } = shop.standIn;
      for (const { id: key } of state.all('idempotency_key')) state.remove('idempotency_key', key);
      for (let time = 0; time < times; time += 1) {
        const { refund, payment } = await shop.payments.refund(operator, id, part);
        expect(refund).toMatchObject({ amount: 30, status: 'succeeded' });
        expect(payment).toMatchObject({ status: 'COMPLETED', amountRefunded: 30 });
      }
    },
  );

  it.each(['the database', 'the database, and the provider has told of it since'])(
    'under one key is one refund where %s has lost its last second',
    async (where) => {
      const id = await paid();
      const { amountRefunded, version, status } = await read(id);
      const part = { ...refundAll, amount: 30, idempotencyKey: 'once' };
      await shop.payments.refund(operator, id, part);
      const { pool } = shop.database;
      await pool.query('delete from workflow.refunds where payment_id = $1', [id]);
      const before = [id, amountRefunded, version, status];
      await pool.query(
        'update workflow.payments set amount_refunded = $2, version = $3, status = $4 where id = $1',
        before,
      );
      if (where.includes('told')) await look(id);
      const { refund, payment } = await shop.payments.refund(operator, id, part);
      expect([refund.amount, payment.amountRefunded]).toEqual([30, 30]);
      const [refunds] = await shop.payments.listRefunds([id]);
      expect(refunds).toMatchObject([{ id: refund.id, amount: 30, status: 'succeeded' }]);
    },
  );

  it('that the provider refuses is kept as refused, and may be asked for again', async () => {
    const id = await paid();
    const part = { ...refundAll, amount: 30, idempotencyKey: 'refused at first' };
    shop.standIn.control.fail({ match: /^POST refunds$/, times: 1, status: 400 });
    await expect(shop.payments.refund(operator, id, part)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    const statuses = async () =>
      (await shop.database.pool.query('select status from workflow.refunds where payment_id = $1', [id]))
        .rows;
    expect(await statuses()).toEqual([{ status: 'refused' }]);
    await shop.payments.refund(operator, id, part);
    expect(await statuses()).toEqual([{ status: 'succeeded' }]);
  });

  it('in part before Kiln looked does not take away what was bought', async () => {
    const { payment, sessionId } = await bought();
    shop.onStep = () => {
      throw new Error('Kiln is away');
    };
    await shop.standIn.control.pay(sessionId);
    const intent = String(shop.standIn.state.get('checkout.session', sessionId)['payment_intent']);
    createRefund(shop.standIn, { payment_intent: intent, amount: '30' });
    shop.onStep = () => undefined;
    await look(payment.id);
    expect(await read(payment.id)).toMatchObject({
      status: 'COMPLETED',
      amountRefunded: 30,
      executionId: expect.any(String) as string,
    });
  });

  it('of too much, or of what is not paid, is refused', async () => {
    const id = await paid();
    for (const amount of [101, 0, 0.5, 1.5, -1])
      await expect(shop.payments.refund(operator, id, { ...refundAll, amount })).rejects.toMatchObject({
        code: 'BAD_USER_INPUT',
        field: 'amount',
        message: expect.stringContaining('from 1 to 100, what is left'),
      });
    const { payment } = await bought();
    await expect(shop.payments.refund(operator, payment.id, refundAll)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: expect.stringContaining('a payment that is pending'),
    });
  });

  it('that was made is answered so though the provider is away right after it', async () => {
    const id = await paid();
    const { bus, store, provider } = shop.commerce;
    const readCheckoutState = () => Promise.reject(new PayProviderError('UNAVAILABLE', 'away'));
    const commerce = { ...shop.commerce, provider: { ...provider, readCheckoutState } };
    const payments = createPaymentService({ logger: silentLogger(), store, bus, commerce, autoPay: null });
    // Whoever was told to try again would give back as much once more.
    const { refund, payment } = await payments.refund(operator, id, { ...refundAll, amount: 40 });
    expect([refund.amount, payment.id]).toEqual([40, id]);
    expect(await look(id)).toMatchObject({ status: 'COMPLETED', amountRefunded: 40 });
  });

  it('that the bank sends back makes the payment completed again', async () => {
    const id = await paid();
    const { refund } = await shop.payments.refund(operator, id, refundAll);
    await shop.standIn.control.failRefund(refund.id);
    await expect.poll(async () => (await read(id)).status, PATIENCE).toBe('COMPLETED');
  });
});

describe('an event', () => {
  it('that nobody signed is refused', async () => {
    const event = { body: Buffer.from('{}'), signature: 't=1,v1=00' };
    await expect(shop.payments.receiveEvent(event)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('that was processed is not looked at again', async () => {
    const { payment, sessionId } = await bought();
    const looked: string[] = [];
    const commerce = { ...shop.commerce, reconcile: async (id: string) => void looked.push(id) };
    const event = {
      id: `evt_${randomUUID()}`,
      type: 'checkout.session.completed',
      createdAt: new Date(),
      isLive: false,
      refersTo: { kind: 'session', sessionId, paymentId: null },
    } as const;
    expect(await processEvent(commerce, event)).toBe('done');
    expect(await processEvent(commerce, event)).toBe('seen');
    expect(looked).toEqual([payment.id]);
  });

  it('of another app of the account is nothing to us', async () => {
    const { priceId } = await shop.catalog.ensurePrice(
      (await shop.templates.byCodes(['poster']))[0] as never,
    );
    const before = shop.hookAnswers.length;
    const { createSession } = await import('../../sandbox/stripe/objects/checkout.ts');
    const form = {
      mode: 'payment',
      line_items: [{ price: priceId, quantity: '1' }],
      success_url: 'http://127.0.0.1:1/',
      client_reference_id: 'somebody-elses',
    };
    const session = createSession(shop.standIn, form, (id) => id);
    await shop.standIn.control.pay(session.id);
    await expect.poll(() => shop.hookAnswers.length, PATIENCE).toBeGreaterThan(before);
    expect(shop.hookAnswers.slice(before)).not.toContain(500);
  });
});

describe('a browser that comes back without a token', () => {
  const stranger = anonymousCaller('test', '192.0.2.1');

  it('proves the purchase by its session, and by nothing less', async () => {
    const { payment, sessionId } = await bought();
    await shop.standIn.control.pay(sessionId);
    const other = await bought();
    for (const named of [null, '{CHECKOUT_SESSION_ID}', other.sessionId, 'cs_test_none']) {
      const key = { id: payment.id, sessionId: named };
      for (const caller of [stranger, ben]) {
        await expect(shop.payments.reconcile(caller, key)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      }
    }
    expect(await shop.payments.reconcile(stranger, { id: payment.id, sessionId })).toMatchObject({
      id: payment.id,
      status: 'COMPLETED',
    });
  });

  it('ends a checkout by its id, which is all that the way back has', async () => {
    const { payment } = await bought();
    const key = { id: payment.id, sessionId: '{CHECKOUT_SESSION_ID}' };
    await expect(shop.payments.cancel(ben, key)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await shop.payments.cancel(stranger, key)).toMatchObject({ status: 'CANCELLED' });
    // And is told so again; of one that is paid nothing.
    expect(await shop.payments.cancel(stranger, key)).toMatchObject({ status: 'CANCELLED' });
    const paid = await bought();
    await shop.standIn.control.pay(paid.sessionId);
    await look(paid.payment.id);
    const by = { id: paid.payment.id, sessionId: null };
    await expect(shop.payments.cancel(stranger, by)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('only reads, as a stranger, a checkout without an owner, unless it has both ids', async () => {
    const request = { templateCode: 'poster', userId: 'somebody', parameters: {}, idempotencyKey: null };
    const open = async () => {
      const { payment, sessionId } = await shop.payments.checkout(stranger, request);
      return { id: payment.id, sessionId };
    };
    const by = { isStranger: true };
    const key = await open();
    for (const less of [
      { ...key, sessionId: null },
      { ...key, sessionId: '{CHECKOUT_SESSION_ID}' },
      { ...key, id: null },
    ])
      expect(await shop.payments.cancel(stranger, less, by)).toMatchObject({ status: 'PENDING' });
    // Somebody who has signed in has the session of a buyer without an account from elsewhere, and may end it too.
    expect(await shop.payments.cancel(ben, key, by)).toMatchObject({ status: 'CANCELLED' });
    const { id } = await open();
    expect(await shop.payments.cancel(stranger, { id, sessionId: null })).toMatchObject({
      status: 'CANCELLED',
    });
  });
});

it('a checkout is ended by the service that opened it and by whom it was opened for, and by no other service', async () => {
  const manager = { ...key, scopes: ['read', 'start', 'manage'] };
  const request = { templateCode: 'poster', userId: anna.id, parameters: { prompt: 'a fox' } };
  const [first, second] = [randomUUID(), randomUUID()].map((idempotencyKey) =>
    shop.payments.checkout(manager, { ...request, idempotencyKey }),
  );
  const ids = [(await first)?.payment.id ?? '', (await second)?.payment.id ?? ''] as const;
  const cancel = (caller: Caller, id: string) => shop.payments.cancel(caller, { id, sessionId: null });
  for (const nobody of [{ ...manager, id: 'key_other' }, ben])
    await expect(cancel(nobody, ids[0])).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await cancel(manager, ids[0])).toMatchObject({ status: 'CANCELLED' });
  expect(await cancel(anna, ids[1])).toMatchObject({ status: 'CANCELLED' });
});

describe('whoever watches a payment', () => {
  it('sees it become paid and given back', async () => {
    const { payment, sessionId } = await bought();
    const leaving = new AbortController();
    const seen: string[] = [];
    const watching = (async () => {
      for await (const now of await shop.payments.watch(anna, payment.id, leaving.signal))
        seen.push(now.status);
    })();
    await expect.poll(() => seen, PATIENCE).toEqual(['PENDING']);
    await shop.standIn.control.pay(sessionId);
    await expect.poll(() => seen.at(-1), PATIENCE).toBe('COMPLETED');
    await shop.payments.refund(operator, payment.id, refundAll);
    await watching;
    expect(seen.at(-1)).toBe('REFUNDED');
    await expect(shop.payments.watch(ben, payment.id, leaving.signal)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

describe('a service', () => {
  it('without a payment provider says so, and still reads', async () => {
    const { payment } = await bought();
    const { store } = shop.commerce;
    const closed = createPaymentService({
      logger: silentLogger(),
      store,
      bus: shop.commerce.bus,
      commerce: null,
      autoPay: null,
    });
    const request = { templateCode: 'poster', userId: anna.id, parameters: {}, idempotencyKey: null };
    const none = { id: payment.id, sessionId: null };
    for (const asked of [
      () => closed.checkout(anna, request),
      () => closed.reconcile(anna, none),
      () => closed.cancel(anna, none),
      () => closed.refund(operator, payment.id, refundAll),
      () => closed.receiveEvent({ body: Buffer.from(''), signature: '' }),
    ])
      await expect(asked()).rejects.toMatchObject({ code: 'NOT_CONFIGURED' });
    expect(await closed.byIds(anna, [payment.id])).toMatchObject([{ id: payment.id }]);
  });

  it('tells whose execution was paid how, and nobody else', async () => {
    const { payment, sessionId } = await bought();
    await shop.standIn.control.pay(sessionId);
    const { executionId } = await look(payment.id, sessionId);
    const of = async (caller: typeof anna, id = executionId ?? '') =>
      (await shop.payments.byExecution(caller, id))?.id ?? null;
    expect([await of(anna), await of(ben), await of(anna, randomUUID())]).toEqual([payment.id, null, null]);
  });

  it('of a sandbox pays for who comes back with both ids, while it is not paid', async () => {
    const paid: string[] = [];
    const { commerce } = shop;
    const autoPay = async (sessionId: string) => {
      paid.push(sessionId);
      await shop.standIn.control.pay(sessionId);
    };
    const playing = createPaymentService({
      logger: silentLogger(),
      store: commerce.store,
      bus: commerce.bus,
      commerce,
      autoPay,
    });
    const [one, other] = [await bought(), await bought()];
    await playing.reconcile(anna, { id: one.payment.id, sessionId: null });
    await playing.reconcile(anna, { id: null, sessionId: one.sessionId });
    const mixed = playing.reconcile(anna, { id: one.payment.id, sessionId: other.sessionId });
    await expect(mixed).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    expect(paid).toEqual([]);
    for (let times = 0; times < 2; times += 1)
      await playing.reconcile(anna, { id: one.payment.id, sessionId: one.sessionId });
    expect(paid).toEqual([one.sessionId]);
  });

  it('knows a payment by its session alone, and says which it does not know', async () => {
    const { payment, sessionId } = await bought();
    expect(await shop.payments.reconcile(anna, { id: null, sessionId })).toMatchObject({ id: payment.id });
    for (const [key, named] of [
      [{ id: 'pay_none', sessionId }, /pay_none/],
      [{ id: null, sessionId: 'cs_none' }, /cs_none/],
      [{ id: null, sessionId: null }, /no payment/],
    ] as const)
      await expect(shop.payments.reconcile(anna, key)).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: expect.stringMatching(named),
      });
    await expect(reconcile(shop.commerce, 'pay_none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('takes no session for that of a payment which has none yet, unless it is', async () => {
    const [one, other] = [await bought(), await bought()];
    const forget = 'update workflow.payments set pp_session_id = null where id = $1';
    await shop.database.pool.query(forget, [one.payment.id]);
    await shop.standIn.control.pay(other.sessionId);
    await expect(look(one.payment.id, other.sessionId)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'sessionId',
    });
    expect(await look(one.payment.id, one.sessionId)).toMatchObject({ status: 'PENDING' });
  });

  it('gives nothing back of what was never charged', async () => {
    const { payment, sessionId } = await bought();
    await shop.standIn.control.pay(sessionId);
    await look(payment.id, sessionId);
    const uncharge = 'update workflow.payments set pp_payment_intent_id = null where id = $1';
    await shop.database.pool.query(uncharge, [payment.id]);
    const part = { ...refundAll, amount: 10 };
    await expect(shop.payments.refund(operator, payment.id, part)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'id',
    });
  });
});

it('an event names its payment before we know its session, and one about nothing is nothing', async () => {
  const { payment, sessionId } = await bought();
  const looked: unknown[] = [];
  const dependencies = {
    ...shop.commerce,
    reconcile: async (...asked: unknown[]) => void looked.push(asked),
  };
  const process = (refersTo: Parameters<typeof processEvent>[1]['refersTo'], isLive = false) =>
    processEvent(dependencies, {
      id: `evt_${randomUUID()}`,
      type: 'checkout.session.completed',
      createdAt: new Date(),
      isLive,
      refersTo,
    });
  const named = { kind: 'session', sessionId: 'cs_other', paymentId: payment.id } as const;
  expect(await process(named)).toBe('done');
  expect(await process({ ...named, sessionId })).toBe('done');
  expect(await process({ ...named, paymentId: 'pay_none' })).toBe('ignored');
  expect(await process({ ...named, paymentId: null })).toBe('ignored');
  expect(await process({ kind: 'nothing' })).toBe('ignored');
  expect(await process(named, true)).toBe('ignored');
  expect(looked).toEqual([
    [payment.id, 'cs_other'],
    [payment.id, undefined],
  ]);
});

it('an event of an intent finds the session of a payment that we do not know by it', async () => {
  const { payment } = await bought();
  const looked: unknown[] = [];
  const sessions: (string | null)[] = ['cs_found', null];
  const dependencies = {
    ...shop.commerce,
    provider: { ...shop.commerce.provider, sessionOfIntent: async () => sessions.shift() ?? null },
    reconcile: async (...asked: unknown[]) => void looked.push(asked),
  };
  const process = (paymentId: string | null, id = `evt_${randomUUID()}`) => {
    const refersTo = { kind: 'intent', paymentIntentId: `pi_${randomUUID()}`, paymentId } as const;
    return processEvent(dependencies, {
      id,
      type: 'charge.refunded',
      createdAt: new Date(),
      isLive: false,
      refersTo,
    });
  };
  expect([await process(payment.id), await process(payment.id), await process(null)]).toEqual([
    'done',
    'done',
    'ignored',
  ]);
  expect(looked).toEqual([
    [payment.id, 'cs_found'],
    [payment.id, undefined],
  ]);
  expect(sessions).toEqual([]);
});

it.each([
  ['an error', new Error(`\0no${'!'.repeat(600)}`), `no${'!'.repeat(498)}`],
  ['a text', 'nothing works', 'nothing works'],
])(
  'an event that fails with %s is kept with its reason and counted until it is processed',
  async (_, thrown, why) => {
    const { payment, sessionId } = await bought();
    let isAway = true;
    const dependencies = {
      ...shop.commerce,
      async reconcile() {
        if (isAway) throw thrown;
      },
    };
    const event = {
      id: `evt_${randomUUID()}`,
      type: 'checkout.session.completed',
      createdAt: new Date(),
      isLive: false,
      refersTo: { kind: 'session', sessionId, paymentId: payment.id },
    } as const;
    const kept = async () => {
      const text = `select attempts, last_error as why, processed_at is not null as done
      from workflow.pay_events where id = $1`;
      return (await shop.database.pool.query(text, [event.id])).rows;
    };
    for (let attempts = 1; attempts < 3; attempts += 1) {
      await expect(processEvent(dependencies, event)).rejects.toBe(thrown);
      expect(await kept()).toEqual([{ attempts, why, done: false }]);
    }
    isAway = false;
    expect(await processEvent(dependencies, event)).toBe('done');
    expect(await kept()).toEqual([{ attempts: 3, why: null, done: true }]);
  },
);

it('a payment that changes between each read and write is given up after eight attempts', async () => {
  const { payment, sessionId } = await bought();
  shop.standIn.events.hold();
  await shop.standIn.control.pay(sessionId);
  const steps: ReconcileStep[] = [];
  const counted: unknown[] = [];
  const { store } = shop.commerce;
  const behind = {
    ...shop.commerce,
    store: {
      ...store,
      byIds: async (ids: readonly string[]) =>
        (await store.byIds(ids)).map((row) => ({ ...row, version: row.version - 1 })),
    },
    onStep: (step: ReconcileStep) => void steps.push(step),
    countStatus: (labels: unknown) => void counted.push(labels),
  };
  await expect(reconcile(behind, payment.id)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: `payment ${payment.id} changes all the time: try again`,
    retryAfter: 1,
  });
  expect(steps.filter((step) => step === 'read')).toHaveLength(8);
  expect([steps.includes('committed'), counted, (await read(payment.id)).executionId]).toEqual([
    false,
    [],
    null,
  ]);
  const now = { ...behind, store };
  await reconcile(now, payment.id);
  await reconcile(now, payment.id);
  expect(counted).toEqual([{ status: 'COMPLETED' }]);
  shop.standIn.events.release(() => []);
});
