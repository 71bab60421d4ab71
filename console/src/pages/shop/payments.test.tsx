import { fireEvent, screen, waitFor } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { createPage, payment, template } from '../../testing/shop.ts';
import {
  ADMINISTRATOR,
  closeConsole,
  type Fields,
  openConsole,
  refusal,
} from '../../testing/whole-console.tsx';
import { t } from '../../text/text.ts';

afterEach(closeConsole);

const templatesConnection = createPage([template('poster'), template('film')]);
const sum = (status: string, change: Fields = {}): Fields => ({
  currency: 'usd',
  status,
  count: 2,
  amount: 2_000,
  amountRefunded: 0,
  ...change,
});
const sums = [sum('CANCELLED'), sum('REFUNDED', { amountRefunded: 2_000 }), sum('PENDING'), sum('COMPLETED')];
const part = { amountRefunded: 250, disputed: true };
const all = [
  payment('one', part),
  payment('two', { status: 'PENDING', taskId: null, userId: 'visitor-12345678-9', user: null }),
  payment('three', { status: 'REFUNDED', amountRefunded: 1_000 }),
];
const press = async (words: string) =>
  void fireEvent.click(await screen.findByText(words, { selector: 'button, button *' }));
const set = async (label: string, value: string) =>
  void fireEvent.change(await screen.findByLabelText(label), { target: { value } });

it('lists payments with the sums of all of them, and refunds what can be', async () => {
  const refund = {
    id: 'ref_1',
    status: 'pending',
    payment: payment('one', { ...part, amountRefunded: 1_000 }),
  };
  const { askedFor, hasAsked } = await openConsole('/shop?view=payments', {
    ...ADMINISTRATOR,
    templatesConnection,
    payments: createPage(all, { sums }),
    refundPayment: refund,
  });
  await screen.findAllByText('The poster');
  await expect(outline()).toMatchFileSnapshot('outlines/payments.txt');
  expect(askedFor('Payments')).toEqual([{ first: 25, userId: null, filter: {} }]);
  await press(t('shop.refund'));
  await screen.findByRole('dialog');
  await expect(outline(document.querySelector('dialog'))).toMatchFileSnapshot('outlines/refund.txt');
  fireEvent.click(screen.getByLabelText(t('dialog.close')));
  await waitFor(() => expect(document.querySelector('dialog')).toBeNull());
  await press(t('shop.refund'));
  await press(t('shop.refundAmount', { amount: '$7.50' }));
  await hasAsked('RefundPayment');
  expect(askedFor('RefundPayment')[0]).toMatchObject({ id: 'one', reason: 'USER_REQUEST', amount: null });
  // What is given back is in the sums, which are asked for again.
  await hasAsked('Payments', 2);
  await waitFor(() => expect(document.querySelector('dialog')).toBeNull());
});

it('offers no refund to who may not give one, and says that there are no payments', async () => {
  await openConsole('/shop?view=payments', { templatesConnection, payments: createPage(all, { sums: [] }) });
  await screen.findAllByText('The poster');
  expect(screen.queryByText(t('shop.refund'))).toBeNull();
  expect(document.querySelector('[data-shop-sums]')).toBeNull();
  await closeConsole();
  await openConsole('/shop?view=payments', { templatesConnection, payments: createPage([], { sums: [] }) });
  expect(await screen.findByText(t('shop.noPayments'))).toBeDefined();
});

it('is narrowed by state, template and days, all of them in the address', async () => {
  const { address, askedFor } = await openConsole('/shop?view=payments', {
    templatesConnection,
    payments: createPage([], { sums: [] }),
  });
  const chip = (words: string) =>
    screen.getByText(words, { selector: 'button' }).getAttribute('aria-pressed');
  await press(t('payment.REFUNDED'));
  await waitFor(() => expect(address()).toBe('/shop?view=payments&status=REFUNDED'));
  expect(await screen.findByText(t('gallery.noMatch'))).toBeDefined();
  await waitFor(() => expect(chip(t('payment.REFUNDED'))).toBe('true'));
  await userEvent.selectOptions(await screen.findByLabelText(t('shop.template')), 'film');
  await waitFor(() => expect(address()).toContain('film'));
  await set(t('shop.from'), '2026-08-01');
  await waitFor(() => expect(address()).toContain('2026-08-01'));
  await set(t('shop.to'), '2026-08-31');
  const narrowed = '/shop?view=payments&status=REFUNDED&of=film&from=2026-08-01&to=2026-08-31';
  await waitFor(() => expect(address()).toBe(narrowed));
  const filter = {
    statuses: ['REFUNDED'],
    templateCode: 'film',
    createdAfter: '2026-08-01T00:00:00.000Z',
    // The last day is included.
    createdBefore: '2026-09-01T00:00:00.000Z',
  };
  await waitFor(() => expect(askedFor('Payments').at(-1)).toMatchObject({ filter }));
  await press(t('shop.allPayments'));
  await waitFor(() => expect(address()).not.toContain('status'));
  await userEvent.selectOptions(await screen.findByLabelText(t('shop.template')), '');
  await waitFor(() => expect(address()).not.toContain('of='));
  await set(t('shop.from'), '');
  await waitFor(() => expect(address()).not.toContain('from'));
  await set(t('shop.to'), '');
  await waitFor(() => expect(address()).toBe('/shop?view=payments'));
});

it('shows what was bought for one person, until that is taken away', async () => {
  const { address, askedFor, hasAsked } = await openConsole('/shop?view=payments&status=COMPLETED', {
    templatesConnection,
    payments: createPage(all, { sums: [] }),
  });
  const [buyer] = await screen.findAllByText('Ben');
  if (buyer !== undefined) fireEvent.click(buyer);
  await waitFor(() => expect(address()).toBe('/shop?view=payments&status=COMPLETED&user=usr_ben'));
  await hasAsked('Payments', 2);
  expect(askedFor('Payments').at(-1)).toMatchObject({
    userId: 'usr_ben',
    filter: { statuses: ['COMPLETED'] },
  });
  await press(t('shop.onlyOf', { user: 'usr_ben' }));
  await waitFor(() => expect(address()).toBe('/shop?view=payments&status=COMPLETED'));
});

it('names a template of the address that is gone, and says that payments cannot be asked', async () => {
  const payments = () => {
    throw refusal('UNAVAILABLE');
  };
  await openConsole('/shop?view=payments&of=gone&user=usr_x', { templatesConnection, payments });
  expect(await screen.findByRole('alert')).toBeDefined();
  const field = await screen.findByLabelText<HTMLSelectElement>(t('shop.template'));
  await waitFor(() =>
    expect([...field.options].map(({ value }) => value)).toEqual(['', 'gone', 'poster', 'film']),
  );
  expect(field.value).toBe('gone');
  expect(screen.queryByText(t('gallery.noMatch'))).toBeNull();
});

it('is given back once the sums are those after it', async () => {
  let count = 0;
  let answer: (value: Fields) => void = () => undefined;
  const listed = createPage([payment('one')], { sums: [] });
  const { hasAsked } = await openConsole('/shop?view=payments', {
    ...ADMINISTRATOR,
    templatesConnection,
    payments: () => {
      count += 1;
      return count === 1 ? listed : new Promise<Fields>((resolve) => (answer = resolve));
    },
    refundPayment: { id: 'ref_1', status: 'pending', payment: payment('one', { amountRefunded: 1_000 }) },
  });
  await press(t('shop.refund'));
  await press(t('shop.refundAmount', { amount: '$10.00' }));
  await hasAsked('Payments', 2);
  expect(document.querySelector('dialog')).not.toBeNull();
  answer(listed);
  await waitFor(() => expect(document.querySelector('dialog')).toBeNull());
});
