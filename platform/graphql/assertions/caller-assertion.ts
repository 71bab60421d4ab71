import { createHash, createSecretKey, type KeyObject } from 'node:crypto';

import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';

import type { Caller } from '../../access/caller.ts';
import { computeFingerprint } from '../../access/idempotency.ts';
import { AppError } from '../../errors.ts';

/**
 * Caller assertions between Kiln's processes: a JWS of the caller, signed with INTERNAL_KEY, valid for one request to one
 * subgraph within one minute. In one process the caller is passed by reference.
 */

/** The HTTP header that carries an assertion. */
export const CALLER_HEADER = 'x-kiln-caller';
/** The member of a graphql-ws payload's `extensions`, and of its connection parameters, that carries an assertion. */
export const CALLER_EXTENSION = 'kilnCaller';

export interface AssertionOptions {
  /** INTERNAL_KEY: the same on both sides, at least 32 characters. */
  readonly key: string;
  /** The addressed subgraph; an assertion is not valid at another one. */
  readonly audience: string;
}

interface RequestTarget {
  /** The HTTP method; over graphql-ws CONNECT for the connection, SUBSCRIBE for an operation. */
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
}

/** The request that an assertion is for; it is worth nothing for another one. */
interface AssertedRequest extends RequestTarget {
  /** `operationHash` or `bytesHash` of the body; null when there is none. */
  readonly body: string | null;
}

/** Makes an assertion of a caller for one request to the audience. */
export type CallerSigner = (caller: Caller, request: AssertedRequest) => Promise<string>;

/** A valid assertion, whose request's body is still to be compared (`requireBody`). */
export interface AssertedCaller {
  readonly caller: Caller;
  /** The hash of the only body that it is valid with. */
  readonly body: string | null;
}

/** Returns the asserted caller; throws UNAUTHENTICATED when it is forged, expired, or for another target or subgraph. */
export type CallerVerifier = (assertion: unknown, target: RequestTarget) => Promise<AssertedCaller>;

const LIFETIME_SECONDS = 60;
const CLOCK_TOLERANCE_SECONDS = 5;
const ISSUER = 'kiln';

/** Makes the signer of the gateway (or of the workflow subgraph, as Kiln itself) for one subgraph. */
export function createCallerSigner({ key, audience }: AssertionOptions): CallerSigner {
  const secret = deriveSecret(key);
  return (caller, request) => sign({ caller, request }, { secret, audience });
}

/** Makes the verifier of a subgraph in a process of its own. */
export function createCallerVerifier({ key, audience }: AssertionOptions): CallerVerifier {
  const secret = deriveSecret(key);
  return async (assertion, { method, path }) => {
    if (typeof assertion !== 'string') throw refused('only processes of Kiln are answered here');
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
      if (claims.method !== method || claims.path !== path) throw refused(OTHER_REQUEST);
      return { caller: toCaller(claims), body: claims.body };
    } catch (cause) {
      if (!(cause instanceof errors.JOSEError) && !(cause instanceof z.ZodError)) throw cause;
      throw refused('the caller assertion is not valid here', cause);
    }
  };
}

const OTHER_REQUEST = 'the caller assertion is for another request';

/** Throws UNAUTHENTICATED when an assertion was made for another body. */
export function requireBody(asserted: AssertedCaller, body: string | null): void {
  if (asserted.body !== body) throw refused(OTHER_REQUEST);
}

function refused(message: string, cause?: unknown): AppError {
  return new AppError('UNAUTHENTICATED', message, { cause });
}

/** The hash of a GraphQL operation as both sides see it, whatever its transport. Uploads count as null. */
export function operationHash(operation: {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  /** Without uploads (`extractUploads`). */
  readonly variables?: unknown;
}): string {
  const { query, operationName, variables } = operation;
  return computeFingerprint([query, operationName ?? null, variables ?? {}]);
}

/** The hash of a body as bytes. */
export function bytesHash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A caller as it travels between processes of Kiln; the bearer token of another service never does. */
export const callerClaims = z.object({
  sub: z.string().min(1),
  kind: z.enum(['anonymous', 'user', 'key', 'internal']),
  scopes: z.array(z.string()),
  generators: z.array(z.string()).nullable().optional(),
  session: z.string().nullable().optional(),
  /** When the caller's own credential ends, in milliseconds. */
  until: z.number().nullable().optional(),
  trace: z.string(),
  address: z.string().nullable(),
});

const claimsShape = callerClaims.extend({
  method: z.string(),
  path: z.string(),
  body: z.string().nullable(),
});

/** The caller of claims. */
export function toCaller(claims: z.infer<typeof callerClaims>): Caller {
  return {
    kind: claims.kind,
    id: claims.sub,
    scopes: claims.scopes,
    ...(claims.generators === undefined ? {} : { generators: claims.generators }),
    ...(claims.session === undefined ? {} : { sessionId: claims.session }),
    ...(claims.until === undefined
      ? {}
      : { expiresAt: claims.until === null ? null : new Date(claims.until) }),
    traceId: claims.trace,
    address: claims.address,
  };
}

/** The claims of a caller. */
export function toClaims(caller: Caller): z.infer<typeof callerClaims> {
  return {
    sub: caller.id,
    kind: caller.kind,
    scopes: [...caller.scopes],
    ...(caller.generators === undefined ? {} : { generators: caller.generators && [...caller.generators] }),
    ...(caller.sessionId === undefined ? {} : { session: caller.sessionId }),
    ...(caller.expiresAt === undefined ? {} : { until: caller.expiresAt?.getTime() ?? null }),
    trace: caller.traceId,
    address: caller.address,
  };
}

function sign(
  { caller, request }: { readonly caller: Caller; readonly request: AssertedRequest },
  { secret, audience }: { secret: KeyObject; audience: string },
): Promise<string> {
  const { sub, ...claims } = toClaims(caller);
  return new SignJWT({
    ...claims,
    method: request.method,
    path: request.path,
    body: request.body,
  })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(ISSUER)
    .setAudience(audience)
    .setSubject(sub)
    .setIssuedAt()
    .setExpirationTime(`${LIFETIME_SECONDS}s`)
    .sign(secret);
}

function deriveSecret(key: string): KeyObject {
  if (key.length < 32) throw new Error('INTERNAL_KEY needs at least 32 characters');
  return createSecretKey(Buffer.from(key, 'utf8'));
}
