import { screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../../testing/outline.ts';
import { daysAgo, execution, payment } from '../../../testing/shop.ts';
import { ADMINISTRATOR, closeConsole, openConsole, refusal } from '../../../testing/whole-console.tsx';
import { t } from '../../../text/text.ts';

afterEach(closeConsole);

const refund = (id: string, days: number, change: object = {}) => ({
  id,
  amount: 250,
  reason: 'DUPLICATE',
  status: 'succeeded',
  createdAt: daysAgo(days),
  ...change,
});
const events = () => [...document.querySelectorAll('ol > li')].map(({ textContent }) => textContent);

it('shows who paid what, what of it was given back, and what happened when', async () => {
  await openConsole('/shop/payments/one', {
    ...ADMINISTRATOR,
    payment: payment('one', {
      amountRefunded: 500,
      disputed: true,
      refunds: [refund('a', 0), refund('b', 1.5, { reason: null, status: 'of-its-own' })],
      margin: { kept: 500, cost: 120, margin: 380, estimated: true },
      execution: execution('one'),
    }),
  });
  await screen.findByText(t('shop.paymentOf', { name: 'The poster' }));
  await expect(outline()).toMatchFileSnapshot('outlines/payment.txt');
  expect(events().map((text) => text?.slice(0, 24))).toEqual([
    'Checkout openedAug 29, 2',
    'Paid, and the work began',
    '$2.50 refunded · of-its-',
    'The work ended: Succeede',
    '$2.50 refunded · Paid tw',
  ]);
});

it.each([
  ['FAILED', false],
  ['CANCELLED', false],
  ['COMPLETED', true],
] as const)('says whether one that is %s was paid', async (status, wasPaid) => {
  const run = execution('one', { endedAt: null });
  await openConsole('/shop/payments/one', { payment: payment('one', { status, execution: run }) });
  await screen.findByText(t('shop.events'));
  expect(events().map((text) => text?.startsWith(t('shop.event.paid')))).toEqual(
    wasPaid ? [false, true] : [false],
  );
  expect(screen.queryByText(t('shop.cost'))).toBeNull();
  expect(screen.queryByText(t('shop.refund'))).toBeNull();
});

it('has no way to a run that there is none of', async () => {
  await openConsole('/shop/payments/one', { payment: payment('one', { execution: null }) });
  await screen.findByText(t('shop.events'));
  expect(events()).toHaveLength(1);
  expect(screen.queryByText(t('shop.openExecution'))).toBeNull();
});

it('says that there is none, and that it cannot be asked', async () => {
  await openConsole('/shop/payments/one', { payment: null });
  expect(await screen.findByText(t('shop.paymentGone'))).toBeDefined();
  await closeConsole();
  const refused = () => {
    throw refusal('UNAVAILABLE');
  };
  await openConsole('/shop/payments/one', { payment: refused });
  expect(await screen.findByRole('alert')).toBeDefined();
});

it('waits for what it shows', async () => {
  const { hasAsked } = await openConsole('/shop/payments/one', {
    payment: () => new Promise(() => undefined),
  });
  await hasAsked('PaymentPage');
  await waitFor(() => expect(document.querySelectorAll('main [aria-busy=true]')).toHaveLength(1));
});

it('says of a margin whether it is estimated, and what is not known of it', async () => {
  const margin = { kept: 500, cost: null, margin: 380, estimated: false };
  await openConsole('/shop/payments/one', { ...ADMINISTRATOR, payment: payment('one', { margin }) });
  const value = (name: string) => screen.getByText(name).nextElementSibling?.textContent;
  await screen.findByText(t('shop.margin'));
  expect([value(t('shop.cost')), value(t('shop.margin'))]).toEqual([t('shop.unknown'), '$3.80']);
});
