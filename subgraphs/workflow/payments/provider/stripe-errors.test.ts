import { Stripe } from 'stripe';
import { expect, it } from 'vitest';

import { PayProviderError } from './pay-provider.ts';
import { toPayError } from './stripe-errors.ts';

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
