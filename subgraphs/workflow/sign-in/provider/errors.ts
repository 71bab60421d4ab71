import * as oidc from 'openid-client';

import { AppError } from '../../../../platform/errors.ts';

/** No answer of the identity provider, or one that is an outage. */
export function unavailable(cause: unknown): AppError {
  return new AppError('UNAVAILABLE', 'the identity provider does not answer: try again', {
    retryAfter: 5,
    cause,
  });
}

/** The provider's refusals in our words; its own descriptions may hold anything and are not passed on. */
export function toAppError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (error instanceof oidc.AuthorizationResponseError) {
    const isRefused = error.error === 'access_denied';
    return new AppError(
      isRefused ? 'UNAUTHENTICATED' : 'BAD_USER_INPUT',
      isRefused ? 'the sign-in was refused' : 'the identity provider did not sign anybody in: begin again',
      { cause: error },
    );
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
    // A proxy's page in the provider's place, as well as no answer at all.
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
