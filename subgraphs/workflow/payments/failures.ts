import { AppError } from '../../../platform/errors.ts';
import { PayProviderError } from './provider/pay-provider.ts';

/** Maps the payment provider's errors to those of callers; other errors stay. */
function toCallerError(error: unknown): unknown {
  if (!(error instanceof PayProviderError)) return error;
  switch (error.code) {
    case 'RATE_LIMITED':
    case 'UNAVAILABLE':
      return new AppError('UNAVAILABLE', `${error.message}: try again`, { retryAfter: 5, cause: error });
    case 'NOT_AUTHENTIC':
      return new AppError('UNAUTHENTICATED', error.message, { cause: error });
    case 'KEY_REFUSED':
      return new AppError('NOT_CONFIGURED', 'payments are not available here now', { cause: error });
    case 'NOT_FOUND':
      return new AppError('NOT_FOUND', error.message, { cause: error });
    default:
      return new AppError('BAD_USER_INPUT', error.message, { cause: error });
  }
}

/** Runs a call to the provider and maps its errors to those of callers. */
export async function withCallerErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw toCallerError(error);
  }
}

/** The error where no payment provider is set up. */
export function notConfigured(): AppError {
  return new AppError('NOT_CONFIGURED', 'payments are not available here');
}
