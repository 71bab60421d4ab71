import { Stripe } from 'stripe';
import { expect, it } from 'vitest';

import { PayProviderError, withCallerErrors } from './pay-provider.ts';
import { checkedId, toPayError } from './stripe-errors.ts';
import { toPayEvent } from './stripe-events.ts';
import { createStripe } from './stripe.ts';

const { errors } = Stripe;
const said = (code: string) => ({ message: `said ${code}`, type: 'invalid_request_error' as const, code });

it.each([
  ['KEY_REFUSED', new errors.StripeAuthenticationError(said('api_key_expired'))],
  ['KEY_REFUSED', new errors.StripePermissionError(said('more_permissions_required'))],
  ['UNAVAILABLE', new errors.StripeIdempotencyError(said('idempotency_key_in_use'))],
  ['RATE_LIMITED', new errors.StripeRateLimitError(said('rate_limit'))],
  ['NOT_FOUND', new errors.StripeInvalidRequestError(said('resource_missing'))],
  ['REFUSED', new errors.StripeInvalidRequestError(said('charge_already_refunded'))],
  ['REFUSED', new errors.StripeIdempotencyError(said('idempotency_error'))],
  ['UNAVAILABLE', new errors.StripeConnectionError(said('none'))],
  ['UNAVAILABLE', new errors.StripeAPIError(said('api_error'))],
  ['UNAVAILABLE', new TypeError('fetch failed')],
])('says %s of %o', (code, error) => {
  expect(toPayError(error)).toMatchObject({ name: 'PayProviderError', code });
});

it('keeps what is one already, and no part of a key that Stripe quotes', () => {
  const own = new PayProviderError('REFUSED', 'no page');
  expect(toPayError(own)).toBe(own);
  const quoting = new errors.StripeAuthenticationError({ ...said('x'), message: 'Invalid key sk_live_1234' });
  expect(String(toPayError(quoting).cause)).toBe('Error: Invalid key sk_…');
});

it.each([
  ['RATE_LIMITED', { code: 'UNAVAILABLE', message: 'said: try again', retryAfter: 5 }],
  ['UNAVAILABLE', { code: 'UNAVAILABLE', message: 'said: try again', retryAfter: 5 }],
  ['NOT_AUTHENTIC', { code: 'UNAUTHENTICATED', message: 'said' }],
  ['KEY_REFUSED', { code: 'NOT_CONFIGURED', message: 'payments are not available here now' }],
  ['NOT_FOUND', { code: 'NOT_FOUND', message: 'said' }],
  ['REFUSED', { code: 'BAD_USER_INPUT', message: 'said' }],
] as const)('tells callers of %s', async (code, told) => {
  const failing = withCallerErrors(() => Promise.reject(new PayProviderError(code, 'said')));
  await expect(failing).rejects.toMatchObject(told);
});

it('leaves other errors, and answers, as they are', async () => {
  const own = new TypeError('a mistake');
  await expect(withCallerErrors(() => Promise.reject(own))).rejects.toBe(own);
  expect(await withCallerErrors(async () => 7)).toBe(7);
});

it.each([undefined, '', 'pi_7', 7])('takes %j for no id of a session', (id) => {
  expect(() => checkedId(id, 'cs_')).toThrow('something that is no answer');
  expect(checkedId('cs_7', 'cs_')).toBe('cs_7');
});

it.each([
  [
    'checkout.session.completed',
    { id: 'cs_1', client_reference_id: 'pay_1' },
    { kind: 'session', sessionId: 'cs_1', paymentId: 'pay_1' },
  ],
  [
    'checkout.session.expired',
    { id: 'cs_1', metadata: { payment_id: 'pay_2' } },
    { kind: 'session', sessionId: 'cs_1', paymentId: 'pay_2' },
  ],
  ['checkout.session.completed', { id: '' }, { kind: 'nothing' }],
  [
    'refund.updated',
    { payment_intent: 'pi_1', metadata: null },
    { kind: 'intent', paymentIntentId: 'pi_1', paymentId: null },
  ],
  [
    'charge.refunded',
    { payment_intent: { id: 'pi_2' }, metadata: { payment_id: 'pay_3' } },
    { kind: 'intent', paymentIntentId: 'pi_2', paymentId: 'pay_3' },
  ],
  ['charge.dispute.created', { payment_intent: null }, { kind: 'nothing' }],
  ['customer.created', { id: 'cs_1', payment_intent: 'pi_1' }, { kind: 'nothing' }],
])('reads of %s %j', (type, object, refersTo) => {
  const event = { id: 'evt_1', type, created: 1_700_000_000, livemode: true, data: { object } };
  expect(toPayEvent(event as unknown as Stripe.Event)).toEqual({
    id: 'evt_1',
    type,
    createdAt: new Date(1_700_000_000_000),
    isLive: true,
    refersTo,
  });
});

it.each([
  ['sk_live_1', null, 'live'],
  ['rk_live_1', null, 'live'],
  ['sk_test_1', null, 'test'],
  ['xsk_live_1', null, 'test'],
  ['sk_live_1', 'http://127.0.0.1:1', 'development'],
])('with %s at %s is %s', (secretKey, baseUrl, environment) => {
  expect(createStripe({ secretKey, baseUrl, webhookSecrets: [] }).environment).toBe(environment);
});
