import type { IncomingMessage } from 'node:http';

import { readBearer, isMalformedBearer, MALFORMED_BEARER } from '../../platform/access/bearer.ts';
import { anonymousCaller, type Caller } from '../../platform/access/caller.ts';
import { AppError } from '../../platform/errors.ts';
import { findClientAddress, createTrust } from '../request/client-address.ts';
import { readTraceId } from '../request/request-context.ts';
import type { CredentialResolver } from './credentials.ts';
import type { VerifyToken } from './jwt.ts';

/** Finds the caller once per request or socket. What a caller may do is decided later (platform/access/policy.ts). */

/** Dependencies of the caller finder. */
export interface CallerOptions {
  readonly resolveCredential: CredentialResolver;
  /** Passes bearers that are not Kiln's on to the subgraphs (of a foreign supergraph) instead of refusing them. */
  readonly isForeign?: boolean | undefined;
  /** Verifies those bearers first; absent: nobody but the subgraphs does. */
  readonly verifyToken?: VerifyToken | undefined;
  /** Addresses or CIDRs whose X-Forwarded-For is trusted. */
  readonly trustProxy: readonly string[];
}

/** Finds the caller of a request. */
export type CallerFinder = ReturnType<typeof createCallerFinder>;

interface FindOptions {
  /** Used instead of the Authorization header. */
  readonly authorization?: string | undefined;
  /** Refuse an unknown bearer instead of ignoring it. */
  readonly strict?: boolean;
}

/** Whether a caller has shown a credential: one of ours, or a bearer for foreign subgraphs, who check it. */
export function hasCredential({ kind, bearer }: Caller): boolean {
  return kind !== 'anonymous' || bearer !== undefined;
}

/** Makes the finder; throws when `trustProxy` has an invalid entry. */
export function createCallerFinder({ resolveCredential, trustProxy, isForeign, verifyToken }: CallerOptions) {
  const isTrusted = createTrust(trustProxy);
  return {
    /**
     * The caller of a request, or of a socket whose credential came with connection_init (`authorization`). Throws
     * UNAUTHENTICATED for an invalid credential of our own form, and with `strict` for any unknown bearer.
     */
    async find(
      request: IncomingMessage,
      { authorization = request.headers.authorization, strict = false }: FindOptions = {},
    ): Promise<Caller> {
      const caller = anonymousCaller(readTraceId(request), findClientAddress(request, isTrusted));
      if (authorization === undefined || authorization === '') return caller;
      if (strict && isMalformedBearer(authorization)) throw new AppError('UNAUTHENTICATED', MALFORMED_BEARER);
      const identity = await resolveCredential(authorization);
      const bearer = readBearer(authorization);
      if (identity === null && isForeign && bearer !== undefined)
        return verifyToken === undefined
          ? { ...caller, bearer }
          : { ...caller, kind: 'user', bearer, ...(await verifyToken(bearer)) };
      if (identity === 'invalid' || (identity === null && strict && bearer !== undefined)) {
        throw new AppError('UNAUTHENTICATED', 'the credential is expired or not valid');
      }
      return identity === null ? caller : { ...caller, ...identity };
    },
  };
}
