import * as oidc from 'openid-client';

import { AppError } from '../../../../platform/errors.ts';

/** The error of a provider that does not answer, or answers 5xx. */
export function unavailable(cause: unknown): AppError {
  return new AppError('UNAVAILABLE', 'the identity provider does not answer: try again', {
    retryAfter: 5,
    cause,
  });
}

/** Maps the provider's errors; its own descriptions are not passed on, because they may contain anything. */
export function toAppError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (error instanceof oidc.AuthorizationResponseError) {
    const cause = { cause: error };
    return error.error === 'access_denied'
      ? new AppError('UNAUTHENTICATED', 'the sign-in was refused', cause)
      : new AppError('BAD_USER_INPUT', 'the identity provider did not sign anybody in: begin again', cause);
  }
  if (error instanceof oidc.ResponseBodyError || error instanceof oidc.WWWAuthenticateChallengeError) {
    return error.status >= 500
      ? unavailable(error)
      : new AppError('UNAUTHENTICATED', 'the identity provider did not take the code: begin again', {
          cause: error,
        });
  }
  if (error instanceof oidc.ClientError || error instanceof Error) {
    const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
    // No answer, or the error page of a proxy.
    const isOutage = cause instanceof Response && cause.status >= 500;
    const isTransport = code === 'OAUTH_TIMEOUT' || code === undefined || isOutage;
    return isTransport
      ? unavailable(error)
      : new AppError('UNAUTHENTICATED', 'the answer of the identity provider is not valid: begin again', {
          cause: error,
        });
  }
  return error;
}
