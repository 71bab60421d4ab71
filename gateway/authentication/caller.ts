import type { IncomingMessage } from 'node:http';

import { anonymousCaller, type Caller } from '../../platform/access/caller.ts';
import { AppError } from '../../platform/errors.ts';
import { addressOf, createTrust } from '../request/client-address.ts';
import { traceIdOf } from '../request/request-context.ts';
import { bearerOf, type CredentialResolver } from './credentials.ts';

/** Who is asking, found out once per request or socket. What a caller may do is decided behind (platform/access/policy.ts). */

/** What callers are found by. */
export interface CallerOptions {
  readonly resolveCredential: CredentialResolver;
  /** Addresses or CIDRs whose X-Forwarded-For is believed. */
  readonly trustProxy: readonly string[];
}

/** Finds out who sent a request. */
export interface CallerFinder {
  /**
   * The caller of a request, or of a socket whose credential came with connection_init (`authorization`). Throws
   * UNAUTHENTICATED for our own form of credential that is not valid, and with `strict` for any other bearer as well.
   */
  find(request: IncomingMessage, options?: FindOptions): Promise<Caller>;
}

interface FindOptions {
  /** Taken instead of the Authorization header. */
  readonly authorization?: string | undefined;
  /** Refuse a bearer that nobody knows instead of ignoring it. */
  readonly strict?: boolean;
}

/** Makes the finder; throws when `trustProxy` has an entry that is no address or CIDR. */
export function createCallerFinder({ resolveCredential, trustProxy }: CallerOptions): CallerFinder {
  const isTrusted = createTrust(trustProxy);
  return {
    async find(request, { authorization = request.headers.authorization, strict = false } = {}) {
      const caller = anonymousCaller(traceIdOf(request), addressOf(request, isTrusted));
      if (authorization === undefined || authorization === '') return caller;
      const identity = await resolveCredential(authorization);
      if (identity === 'invalid' || (identity === null && strict && bearerOf(authorization) !== undefined)) {
        throw new AppError('UNAUTHENTICATED', 'the credential is expired or not valid');
      }
      return identity === null ? caller : { ...caller, ...identity };
    },
  };
}
