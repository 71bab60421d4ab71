import { Stripe } from 'stripe';

import { PayProviderError } from './pay-provider.ts';

/** Maps Stripe's errors. Its messages may quote the key: only known ones are passed on. */

/** Runs a call; whatever it throws becomes a PayProviderError. */
export async function called<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw toPayError(error);
  }
}

/** The error of a call. */
export function toPayError(error: unknown): PayProviderError {
  if (error instanceof PayProviderError) return error;
  const { errors } = Stripe;
  if (error instanceof errors.StripeAuthenticationError || error instanceof errors.StripePermissionError) {
    return new PayProviderError('KEY_REFUSED', 'the payment provider does not take our key for this', {
      cause: withoutKey(error),
    });
  }
  // The same call is running elsewhere: a retry gets its result.
  if (error instanceof errors.StripeError && error.code === 'idempotency_key_in_use') {
    return new PayProviderError('UNAVAILABLE', 'the payment provider is doing this already', {
      cause: error,
    });
  }
  if (error instanceof errors.StripeRateLimitError) {
    return new PayProviderError('RATE_LIMITED', 'the payment provider asks us to slow down', {
      cause: error,
    });
  }
  if (error instanceof errors.StripeInvalidRequestError || error instanceof errors.StripeIdempotencyError) {
    const code = error.code === 'resource_missing' ? 'NOT_FOUND' : 'REFUSED';
    return new PayProviderError(code, `the payment provider refused this: ${error.message}`.slice(0, 500), {
      cause: error,
    });
  }
  return new PayProviderError('UNAVAILABLE', 'the payment provider does not answer', {
    cause: error instanceof Error ? withoutKey(error) : error,
  });
}

/** Stripe quotes part of a wrong key. */
function withoutKey(error: Error): Error {
  const said = error.message.replaceAll(/\b(sk|rk|whsec)_\w+/g, '$1_…');
  return said === error.message ? error : new Error(said);
}

/** Checks that an id is one: the SDK may return any body as an answer. */
export function checkedId(id: unknown, prefix: string): string {
  if (typeof id === 'string' && id !== '' && id.startsWith(prefix)) return id;
  throw new PayProviderError('UNAVAILABLE', 'the payment provider answered something that is no answer');
}
