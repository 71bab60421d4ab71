import { screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { execution, createPage, payment, template } from '../../testing/shop.ts';
import { closeConsole, openConsole, refusal } from '../../testing/whole-console.tsx';
import { t } from '../../text/text.ts';

afterEach(async () => {
  sessionStorage.clear();
  await closeConsole();
});

const leave = () =>
  sessionStorage.setItem(
    'kiln.checkout',
    '{"paymentId":"pay_1","code":"poster","values":{"prompt":"a lake"}}',
  );
const templatesConnection = createPage([template('poster')]);

it('waits for the bank, then shows what was started', async () => {
  leave();
  const pending = payment('pay_1', { status: 'PENDING', taskId: null });
  const { askedFor, address, followedWith, push } = await openConsole('/shop/paid?session=cs_1', {
    reconcilePayment: pending,
    execution: execution('one'),
  });
  expect(await screen.findByText(t('shop.bank'))).toBeDefined();
  expect(askedFor('ReconcilePayment')).toEqual([{ sessionId: 'cs_1' }]);
  expect(sessionStorage.getItem('kiln.checkout')).toBeNull();
  await expect(outline()).toMatchFileSnapshot('outlines/paid.txt');
  const event = { ...pending, __typename: 'Payment', status: 'COMPLETED', taskId: 'task-one' };
  await waitFor(() => expect(followedWith('paymentUpdated')).toEqual([{ id: 'pay_1' }]));
  push('paymentUpdated', event);
  await waitFor(() => expect(address()).toBe('/shop/executions/task-one'));
});

it('goes on at once where it was paid already, and does not follow it', async () => {
  const { address, push } = await openConsole('/shop/paid?session=cs_1', {
    reconcilePayment: payment('one'),
    execution: execution('one'),
  });
  await waitFor(() => expect(address()).toBe('/shop/executions/task-one'));
  expect(push('paymentUpdated', {})).toBe(0);
});

it.each(['FAILED', 'CANCELLED', 'REFUNDED'] as const)('says that nothing has started: %s', async (status) => {
  const { address, push } = await openConsole('/shop/paid?session=cs_1', {
    reconcilePayment: payment('one', { status, taskId: null }),
  });
  expect(await screen.findByText(t(`payment.${status}`))).toBeDefined();
  expect(screen.getByText(t('shop.nothingStarted'))).toBeDefined();
  expect(address()).toBe('/shop/paid?session=cs_1');
  expect(push('paymentUpdated', {})).toBe(0);
});

it('asks while it does not know, and says what it cannot find out', async () => {
  let answer: (value: unknown) => void = () => undefined;
  const reconcilePayment = () => new Promise((resolve) => (answer = resolve));
  const { hasAsked } = await openConsole('/shop/paid?session=cs_1', { reconcilePayment });
  expect(await screen.findByText(t('shop.asking'))).toBeDefined();
  expect(screen.getByText(t('shop.waitText'))).toBeDefined();
  await hasAsked('ReconcilePayment');
  answer(refusal('NOT_FOUND'));
  expect(await screen.findByRole('alert')).toBeDefined();
  expect(screen.queryByText(t('shop.asking'))).toBeNull();
});

it('leads to the payments where the address names no checkout', async () => {
  const { askedFor } = await openConsole('/shop/paid', {});
  expect(await screen.findByText(t('shop.noSession'))).toBeDefined();
  await expect(outline()).toMatchFileSnapshot('outlines/paid-nothing.txt');
  expect(askedFor('ReconcilePayment')).toEqual([]);
});

it.each([
  ['is ended', () => payment('pay_1', { status: 'CANCELLED' })],
  [
    'can not be ended',
    () => {
      throw refusal('CONFLICT');
    },
  ],
])('gives up a checkout that %s, and is back at its form', async (_, cancelPayment) => {
  leave();
  const { askedFor, address } = await openConsole('/shop/unpaid', { templatesConnection, cancelPayment });
  await waitFor(() => expect(address()).toBe('/shop?template=poster'));
  expect(askedFor('CancelPayment')).toEqual([{ id: 'pay_1' }]);
  const field = await screen.findByLabelText<HTMLTextAreaElement>(t('field.prompt'));
  expect(field.value).toBe('a lake');
});

it('goes back to the shop where no checkout was left', async () => {
  const { askedFor, address } = await openConsole('/shop/unpaid', { templatesConnection });
  await waitFor(() => expect(address()).toBe('/shop'));
  expect(askedFor('CancelPayment')).toEqual([]);
});
