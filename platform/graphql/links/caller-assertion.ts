import { createSecretKey, type KeyObject } from 'node:crypto';

import { errors, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';

import type { Caller } from '../../access/caller.ts';
import { AppError } from '../../errors.ts';

/**
 * Caller assertions between Kiln's processes: a JWS of the caller, signed with INTERNAL_KEY, valid for one subgraph
 * (the audience) and one minute. In one process the caller is passed by reference.
 */

/** The HTTP header that carries an assertion. */
export const CALLER_HEADER = 'x-kiln-caller';
/** The member of a graphql-ws payload's `extensions` that carries an assertion, one per operation. */
export const CALLER_EXTENSION = 'kilnCaller';

export interface AssertionOptions {
  /** INTERNAL_KEY: the same on both sides, at least 32 characters. */
  readonly key: string;
  /** The addressed subgraph; an assertion is not valid at another one. */
  readonly audience: string;
}

/** Makes an assertion of a caller for the audience. */
export type CallerSigner = (caller: Caller) => Promise<string>;
/** Returns the asserted caller; throws UNAUTHENTICATED when it is forged, expired or for another subgraph. */
export type CallerVerifier = (assertion: string) => Promise<Caller>;

const LIFETIME_SECONDS = 60;
/** An assertion is reused for this long, so that the fetches of one request share one signature. */
const REUSE_SECONDS = 20;
const CLOCK_TOLERANCE_SECONDS = 5;
const ISSUER = 'kiln';

/** Makes the signer of the gateway (or of the workflow subgraph, as Kiln itself) for one subgraph. */
export function createCallerSigner({ key, audience }: AssertionOptions): CallerSigner {
  const secret = secretOf(key);
  // Keyed by the caller object, which lives as long as its request or socket.
  const recent = new WeakMap<Caller, { readonly signed: Promise<string>; readonly until: number }>();
  return (caller) => {
    const known = recent.get(caller);
    if (known !== undefined && known.until > Date.now()) return known.signed;
    const signed = sign(caller, { secret, audience });
    recent.set(caller, { signed, until: Date.now() + REUSE_SECONDS * 1_000 });
    return signed;
  };
}

/** Makes the verifier of a subgraph in a process of its own. */
export function createCallerVerifier({ key, audience }: AssertionOptions): CallerVerifier {
  const secret = secretOf(key);
  const recent = new LRUCache<string, Caller>({ max: 1_000 });
  return async (assertion) => {
    const known = recent.get(assertion);
    if (known !== undefined) return known;
    try {
      const { payload } = await jwtVerify(assertion, secret, {
        algorithms: ['HS256'],
        issuer: ISSUER,
        audience,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        maxTokenAge: LIFETIME_SECONDS,
        requiredClaims: ['exp', 'sub'],
      });
      const claims = claimsShape.parse(payload);
      const caller = callerOf(claims);
      const millisecondsLeft = claims.exp * 1_000 - Date.now();
      if (millisecondsLeft >= 1) recent.set(assertion, caller, { ttl: millisecondsLeft });
      return caller;
    } catch (cause) {
      if (!(cause instanceof errors.JOSEError) && !(cause instanceof z.ZodError)) throw cause;
      throw new AppError('UNAUTHENTICATED', 'the caller assertion is not valid here', { cause });
    }
  };
}

const claimsShape = z.object({
  sub: z.string().min(1),
  kind: z.enum(['anonymous', 'user', 'key', 'internal']),
  scopes: z.array(z.string()),
  session: z.string().nullable().optional(),
  /** When the caller's own credential ends, in milliseconds. */
  until: z.number().nullable().optional(),
  trace: z.string(),
  address: z.string().nullable(),
  exp: z.number(),
});

function callerOf(claims: z.infer<typeof claimsShape>): Caller {
  return {
    kind: claims.kind,
    id: claims.sub,
    scopes: claims.scopes,
    ...(claims.session === undefined ? {} : { sessionId: claims.session }),
    ...(claims.until === undefined
      ? {}
      : { expiresAt: claims.until === null ? null : new Date(claims.until) }),
    traceId: claims.trace,
    address: claims.address,
  };
}

function sign(
  caller: Caller,
  { secret, audience }: { secret: KeyObject; audience: string },
): Promise<string> {
  return new SignJWT({
    kind: caller.kind,
    scopes: [...caller.scopes],
    ...(caller.sessionId === undefined ? {} : { session: caller.sessionId }),
    ...(caller.expiresAt === undefined ? {} : { until: caller.expiresAt?.getTime() ?? null }),
    trace: caller.traceId,
    address: caller.address,
  })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(ISSUER)
    .setAudience(audience)
    .setSubject(caller.id)
    .setIssuedAt()
    .setExpirationTime(`${LIFETIME_SECONDS}s`)
    .sign(secret);
}

function secretOf(key: string): KeyObject {
  if (key.length < 32) throw new Error('INTERNAL_KEY needs at least 32 characters');
  return createSecretKey(Buffer.from(key, 'utf8'));
}
