import { fireEvent, screen, waitFor } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';

import type { PaymentPartsFragment } from '../../api/documents/operations.ts';
import { renderOverServer } from '../../testing/over-server.tsx';
import { t } from '../../text/text.ts';
import { isRefundable, Refund } from './refund.tsx';

const payment = {
  id: 'pay_1',
  status: 'COMPLETED',
  currency: 'USD',
  amount: 1_000,
  amountRefunded: 250,
} as const;

async function open(change: object = {}, answer: () => object = () => ({ refundPayment: null })) {
  const onClose = vi.fn<() => void>();
  const shown = { ...payment, template: { name: 'Poster' }, ...change } as unknown as PaymentPartsFragment;
  const { askedFor } = renderOverServer(
    { RefundPayment: answer, Payments: () => ({ payments: null }) },
    <Refund payment={shown} onClose={onClose} />,
  );
  const amount = await screen.findByLabelText<HTMLInputElement>(t('shop.amount'));
  const give = () => screen.getByRole<HTMLButtonElement>('button', { name: /^Refund/ });
  const type = (value: string) => fireEvent.change(amount, { target: { value } });
  return { onClose, askedFor, amount, give, type };
}

it('what is left is given back wholly unless less is typed, and never more or nothing', async () => {
  const { amount, give, type, askedFor, onClose } = await open();
  expect([amount.value, amount.max, amount.min, amount.step]).toEqual(['7.5', '7.5', '0.01', '0.01']);
  for (const wrong of ['0', '7.51', '-1', '']) {
    type(wrong);
    expect([wrong, give().disabled, amount.getAttribute('aria-invalid')]).toEqual([wrong, true, 'true']);
  }
  type('7.5');
  expect([give().disabled, give().textContent]).toEqual([false, t('shop.refundAmount', { amount: '$7.50' })]);
  fireEvent.click(give());
  await waitFor(() => expect(askedFor('RefundPayment')).toHaveLength(1));
  expect(askedFor('RefundPayment')[0]).toMatchObject({ id: 'pay_1', amount: null, reason: 'USER_REQUEST' });
  await waitFor(() => expect(onClose).toHaveBeenCalled());
});

it('a part is given back for the reason that is chosen, once however often it is sent', async () => {
  const { give, type, askedFor, onClose } = await open({}, () => ({ code: 'UNAVAILABLE' }));
  type('2.35');
  await userEvent.selectOptions(screen.getByLabelText(t('shop.reason')), 'DUPLICATE');
  for (const count of [1, 2]) {
    fireEvent.click(give());
    await waitFor(() => expect(askedFor('RefundPayment')).toHaveLength(count));
    expect(await screen.findByRole('alert')).toBeDefined();
  }
  const [one, other] = askedFor('RefundPayment');
  expect(one).toMatchObject({ amount: 235, reason: 'DUPLICATE', key: expect.any(String) });
  expect(other).toEqual(one);
  expect(onClose).not.toHaveBeenCalled();
});

it('a currency without cents has none here', async () => {
  const { amount } = await open({ currency: 'JPY' });
  expect([amount.value, amount.step]).toEqual(['750', '1']);
});

it('only a payment that was made and not all given back can be', () => {
  expect(isRefundable(payment)).toBe(true);
  expect(isRefundable({ ...payment, amountRefunded: 1_000 })).toBe(false);
  expect(isRefundable({ ...payment, status: 'PENDING' })).toBe(false);
});
