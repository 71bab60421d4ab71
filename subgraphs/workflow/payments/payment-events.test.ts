import { expect, it } from 'vitest';

import type { Queue } from '../../../platform/queue/queue.ts';
import { refundQueue, workAutomaticRefunds, type AutomaticRefundDependencies } from './automatic-refunds.ts';
import { changedRefunds } from './listed-refunds.ts';
import { createPaymentOutbox, workPaymentEvents } from './payment-events.ts';
import type { StoredPayment } from './store.ts';

/** What is told of a payment, and which refunds the provider is asked for. */

const pending = {
  id: 'pay_1',
  owner: 'usr_anna',
  status: 'PENDING',
  templateCode: 'poster',
  amount: 100,
  amountRefunded: 0,
  currency: 'usd',
  executionId: null,
  disputed: false,
  version: 7,
  updatedAt: new Date('2026-01-02T03:04:05Z'),
} as StoredPayment;
const completed: StoredPayment = { ...pending, status: 'COMPLETED', executionId: 'exe_1' };

async function told(before: StoredPayment, after: StoredPayment) {
  const calls: (readonly unknown[])[] = [];
  const outbox = createPaymentOutbox({
    enqueue: async (_transaction: unknown, ...jobs: unknown[]) => void calls.push(jobs),
  } as unknown as Queue);
  await outbox({} as never, before, after);
  return calls;
}

it('reports a payment with what has become of it', async () => {
  const { id, owner, templateCode, amount, amountRefunded, currency, disputed } = completed;
  const facts = { id, owner, status: 'COMPLETED', templateCode, amount, amountRefunded, currency, disputed };
  expect(await told(pending, completed)).toEqual([
    [
      {
        queue: 'workflow.payment-event',
        data: {
          id: 'pay_1:7:payment.succeeded',
          type: 'payment.succeeded',
          at: '2026-01-02T03:04:05.000Z',
          data: { ...facts, executionId: 'exe_1' },
        },
      },
    ],
  ]);
});

it.each<readonly [string, StoredPayment, Partial<StoredPayment>, readonly string[]]>([
  ['failed', pending, { status: 'FAILED' }, ['payment.failed']],
  ['was cancelled', pending, { status: 'CANCELLED' }, ['payment.cancelled']],
  ['is what it was', completed, {}, []],
  ['is pending again', { ...pending, status: 'FAILED' }, { status: 'PENDING' }, []],
  ['was refunded in part', completed, { amountRefunded: 1 }, ['payment.refunded']],
  ['was refunded in full', completed, { amountRefunded: 100, status: 'REFUNDED' }, ['payment.refunded']],
  ['was sent back by the bank', { ...completed, amountRefunded: 100 }, { amountRefunded: 0 }, []],
  ['is disputed', completed, { disputed: true }, ['payment.disputed']],
  ['is disputed still', { ...completed, disputed: true }, { disputed: true }, []],
  ['is disputed no more', { ...completed, disputed: true }, { disputed: false }, []],
  [
    'is refunded and disputed',
    completed,
    { amountRefunded: 5, disputed: true },
    ['payment.refunded', 'payment.disputed'],
  ],
])(
  'a payment that %s is told of as such, and without a change nothing is written',
  async (_, before, change, types) => {
    const calls = await told(before, { ...before, ...change });
    expect(calls).toHaveLength(types.length === 0 ? 0 : 1);
    expect(calls.flat()).toMatchObject(types.map((type) => ({ data: { type } })));
  },
);

/** A queue that notes how it is worked. */
function noted() {
  const calls: unknown[] = [];
  const workers: ((job: unknown) => Promise<unknown>)[] = [];
  const queue = {
    define: async (...given: unknown[]) => void calls.push(given),
    work: async (name: string, options: unknown, worker: (job: unknown) => Promise<unknown>) => {
      calls.push([name, options]);
      workers.push(worker);
    },
  } as unknown as Queue;
  return { calls, queue, work: (job: unknown) => workers[0]?.(job) };
}

it('tries an event for a week and a refund for hours, two at a time', async () => {
  const events = noted();
  const published: unknown[] = [];
  await workPaymentEvents({
    queue: events.queue,
    media: { publishEvent: async (event, traceId) => void published.push([event, traceId.length]) },
  });
  expect(events.calls).toEqual([
    ['workflow.payment-event', { retryLimit: 2_016, retryDelaySeconds: 1, retryDelayMaxSeconds: 300 }],
    ['workflow.payment-event', { slots: 2 }],
  ]);
  await events.work({ data: { id: 'pay_1:7:payment.failed' } });
  expect(published).toEqual([[{ id: 'pay_1:7:payment.failed' }, 32]]);

  const refunds = noted();
  const commerce = { queue: refunds.queue };
  await workAutomaticRefunds({ commerce } as unknown as AutomaticRefundDependencies);
  expect(refunds.calls).toEqual([
    [refundQueue, { retryLimit: 50, retryDelaySeconds: 1, retryDelayMaxSeconds: 300 }],
    [refundQueue, { slots: 2 }],
  ]);
  for (const data of [null, {}, { executionId: 7 }]) expect(await refunds.work({ data })).toBeUndefined();
});

const listed = { refundId: null, reason: null, createdAt: new Date(), amount: 10 };
const atProvider = [
  { ...listed, id: 're_1', status: 'succeeded' },
  { ...listed, id: 're_2', status: 'failed' },
  { ...listed, id: 're_3', status: 'pending' },
];

it.each([
  ['nothing was charged', { paymentIntentId: null, amountRefunded: 5 }, 0, null],
  ['nothing was refunded, then or now', { paymentIntentId: 'pi_1', amountRefunded: 0 }, 0, null],
  ['something is refunded', { paymentIntentId: 'pi_1', amountRefunded: 5 }, 0, ['re_2', 're_3']],
  ['something was refunded', { paymentIntentId: 'pi_1', amountRefunded: 0 }, 5, ['re_2', 're_3']],
])(
  'where %s the provider is asked for refunds, or not, and those that differ are taken',
  async (_, state, before, taken) => {
    const asked: unknown[] = [];
    const dependencies = {
      store: {
        listRefunds: async (ids: readonly string[]) => {
          asked.push(ids);
          return [
            { id: 're_1', status: 'succeeded' },
            { id: 're_2', status: 'succeeded' },
          ];
        },
      },
      provider: {
        listRefunds: async (intent: string) => {
          asked.push(intent);
          return atProvider;
        },
      },
    } as unknown as Parameters<typeof changedRefunds>[0];
    const payment = { ...completed, amountRefunded: before };
    const found = await changedRefunds(dependencies, payment, state as Parameters<typeof changedRefunds>[2]);
    expect(found.map(({ id }) => id)).toEqual(taken ?? []);
    expect(asked).toEqual(taken === null ? [] : ['pi_1', ['pay_1']]);
  },
);
