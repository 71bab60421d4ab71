import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { refundFailed } from '../../subgraphs/workflow/payments/automatic-refunds.ts';
import { extent, isWhole } from '../kit/extent.ts';
import { anna, operator } from '../payments/callers.ts';
import { purchase, returned, type Death, type DyingWork } from '../payments/dying-process.ts';
import { openPaymentEnvironment, type PaymentEnvironment } from '../payments/environment.ts';

/**
 * kill -9 of a process of its own between every two steps of what moves money. Nobody tells us of anything meanwhile:
 * whoever comes next finds what the dead one left, and money truth and ours agree at the end.
 */

let shop: PaymentEnvironment;
beforeAll(async () => {
  shop = await openPaymentEnvironment();
  // The catalog is there, so that no death happens on the way to it.
  await shop.payments.checkout(anna, purchase(randomUUID()));
  shop.standIn.events.hold();
});
afterAll(() => shop?.close());

const script = path.resolve(import.meta.dirname, '../payments/dying-process.ts');

async function killed(work: DyingWork['work'], dieAt: Death): Promise<void> {
  const { config, standIn } = shop;
  const { url, secretKey, webhookSecret } = standIn;
  const told: DyingWork = { config, stripe: { url, secretKey, webhookSecret }, work, dieAt };
  const child = spawn(process.execPath, [script, JSON.stringify(told)], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect(signal).toBe('SIGKILL');
}

async function read(id: string) {
  const [payment] = await shop.payments.byIds(operator, [id]);
  if (!payment) throw new Error(`no payment ${id}`);
  return payment;
}

const look = (id: string) => shop.payments.reconcile(operator, { id, sessionId: null });

async function paid() {
  const { payment, sessionId } = await shop.payments.checkout(anna, purchase(randomUUID()));
  await shop.standIn.control.pay(sessionId);
  return payment.id;
}

/** What the stand-in has given back of a payment. */
function givenBack(paymentId: string): readonly unknown[] {
  const refunds = shop.standIn.state.all('refund');
  return refunds
    .filter(({ metadata }) => (metadata as { payment_id?: string }).payment_id === paymentId)
    .map(({ amount }) => amount);
}

const between = (death: Death) =>
  'step' in death ? `after "${death.step}"` : `${death.when} ${death.call} ${death.nth}`;
const named = (deaths: readonly Death[]) => deaths.map((death) => [between(death), death] as const);

describe('a process killed while it looks at a paid checkout', () => {
  // In `npm test` where most is half-done; test/payments dies after each step without a process, tools/model anywhere.
  const steps = extent(
    ['payment written'] as const,
    ['read', 'asked', 'execution written', 'payment written', 'committed'] as const,
  );
  it.each(named(steps.map((step) => ({ step }))))('%s: one execution, one job', async (_, dieAt) => {
    const id = await paid();
    const before = await shop.counts();
    await killed({ do: 'look', paymentId: id }, dieAt);
    const left = await read(id);
    expect(left.executionId === null).toBe(left.status === 'PENDING');
    await Promise.all([look(id), look(id), look(id)]);
    expect(await read(id)).toMatchObject({ status: 'COMPLETED', executionId: expect.any(String) as string });
    const after = await shop.counts();
    expect([after.executions - before.executions, after.jobs - before.jobs]).toEqual([1, 1]);
  });
});

describe.runIf(isWhole)('a process killed while it opens a checkout', () => {
  const call = 'createCheckout';
  const deaths = (['before', 'after'] as const).map((when) => ({ when, call, nth: 1 }) as const);
  it.each(named(deaths))('%s: the same key opens the same one', async (_, dieAt) => {
    const key = randomUUID();
    const sessions = () => shop.standIn.state.all('checkout.session').length;
    const before = sessions();
    await killed({ do: 'checkout', key }, dieAt);
    const { payment, sessionId } = await shop.payments.checkout(anna, purchase(key));
    expect(payment.ppSessionId).toBe(sessionId);
    expect(sessions() - before).toBe(1);
  });
});

const refunding: readonly Death[] = [
  { when: 'before', call: 'refund', nth: 1 },
  { when: 'after', call: 'refund', nth: 1 },
];

describe.runIf(isWhole)('a process killed while it gives money back', () => {
  it.each(named([...refunding, { when: 'before', call: 'readCheckoutState', nth: 1 }]))(
    '%s: the same key refunds once',
    async (_, dieAt) => {
      const id = await paid();
      await look(id);
      const key = randomUUID();
      await killed({ do: 'refund', paymentId: id, key }, dieAt);
      const { payment } = await shop.payments.refund(operator, id, returned(key));
      expect(payment).toMatchObject({ status: 'COMPLETED', amountRefunded: 40 });
      expect(givenBack(id)).toEqual([40]);
    },
  );

  it.each(
    named([...refunding, { when: 'before', call: 'readCheckoutState', nth: 2 }, { step: 'committed' }]),
  )('%s, because what was paid for had failed: its job refunds once', async (_, dieAt) => {
    const id = await paid();
    const executionId = (await look(id)).executionId ?? '';
    await shop.executions.markEnded(executionId, {
      status: 'FAILED',
      stage: 'failed',
      progress: 10,
      error: { code: 'UNAVAILABLE', message: 'the upstream is away' },
      wasStarted: true,
    });
    await killed({ do: 'refund failed', executionId }, dieAt);
    await Promise.all([refundFailed(shop, executionId), refundFailed(shop, executionId)]);
    expect(await read(id)).toMatchObject({ status: 'REFUNDED', amountRefunded: 100 });
    expect(givenBack(id)).toEqual([100]);
  });
});
