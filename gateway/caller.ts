import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';

import { anonymousCaller } from '../platform/caller.ts';
import type { Caller } from '../platform/caller.ts';
import { AppError } from '../platform/errors.ts';
import type { RequestContext } from '../platform/graphql/executor.ts';
import { newTraceId } from '../platform/ids.ts';

/** Who is asking, found out once per request or socket. What a caller may do is decided behind (platform/policy.ts). */

/** What a credential stands for. */
export interface Identity {
  readonly kind: 'user' | 'key';
  /** `usr_...` or `key_...`. */
  readonly id: string;
  readonly scopes: readonly string[];
  /** The session of a token. */
  readonly sessionId?: string | null;
  /** When the credential ends by itself. */
  readonly expiresAt?: Date | null;
}

/** Asks who a credential stands for, without the word Bearer (known-callers.ts). */
export type CallerLookup = (credential: string) => Promise<Identity | 'invalid' | null>;

/**
 * Finds out what an Authorization value stands for: an identity; `invalid` when it has the form of our own credentials
 * but is expired or forged; null when it is not ours at all.
 */
export type CredentialResolver = (authorization: string) => Promise<Identity | 'invalid' | null>;

/** A key of the setting SERVICE_KEYS: its name, and the sha256 of its secret in hexadecimal. */
export interface BootstrapKey {
  readonly name: string;
  readonly sha256: string;
}

/**
 * Resolves `Bearer <secret>` against the operator's service keys, comparing with all of them in constant time (such a key
 * is `key_<name>` and has scope `admin`: it is what the operator gave out to set the service up), then asks for whom the
 * tokens and keys stand that sign-in has issued.
 */
export function createCredentialResolver(options: {
  readonly serviceKeys: readonly BootstrapKey[];
  readonly lookup?: CallerLookup | undefined;
}): CredentialResolver {
  const keys = options.serviceKeys.map(({ name, sha256 }) => ({ name, digest: Buffer.from(sha256, 'hex') }));
  return async (authorization) => {
    const secret = bearerOf(authorization);
    if (secret === undefined) return null;
    const digest = createHash('sha256').update(secret).digest();
    let match: string | undefined;
    for (const key of keys) {
      if (key.digest.length === digest.length && timingSafeEqual(key.digest, digest)) match = key.name;
    }
    if (match !== undefined) return { kind: 'key', id: `key_${match}`, scopes: ['admin'] };
    const known = isWorthAsking(secret) ? await options.lookup?.(secret) : null;
    return known ?? (hasOurForm(secret) ? 'invalid' : null);
  };
}

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

const contexts = new WeakMap<IncomingMessage, RequestContext>();

/** Remembers the caller of a request and a signal that is aborted when it hangs up. Called once, at the door. */
export function attachContext(request: IncomingMessage, response: ServerResponse, caller: Caller): void {
  const hangUp = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) hangUp.abort();
  });
  contexts.set(request, { caller, signal: hangUp.signal });
}

/** The context of a request behind the door. Throws when the request did not come through it. */
export function contextOf(request: IncomingMessage): RequestContext {
  const context = contexts.get(request);
  if (context === undefined) throw new Error('the request has no caller yet');
  return context;
}

/** The trace id of a valid W3C `traceparent`, else a new one; the same for every call with one request. */
export function traceIdOf(request: IncomingMessage): string {
  const known = traceIds.get(request);
  if (known !== undefined) return known;
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/.exec(
    String(request.headers['traceparent']),
  );
  const traceId = match?.[1] !== undefined && !/^0+$/.test(match[1]) ? match[1] : newTraceId();
  traceIds.set(request, traceId);
  return traceId;
}

const traceIds = new WeakMap<IncomingMessage, string>();

function bearerOf(authorization: string): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}

/** Keys of ours, and tokens of the type of ours; nothing else leaves this process. */
function isWorthAsking(secret: string): boolean {
  return secret.startsWith('kiln_') || headerOf(secret)['typ'] === 'at+jwt';
}

/** Keys that Kiln makes begin with `kiln_`; its access tokens are JWS of type `at+jwt`, signed with EdDSA. */
function hasOurForm(secret: string): boolean {
  if (secret.startsWith('kiln_')) return true;
  const { alg, typ } = headerOf(secret);
  return alg === 'EdDSA' && typ === 'at+jwt';
}

/** The header of a JWS; empty for anything else. */
function headerOf(secret: string): Readonly<Record<string, unknown>> {
  const parts = secret.split('.');
  if (parts.length !== 3) return {};
  try {
    const header: unknown = JSON.parse(Buffer.from(parts[0] ?? '', 'base64url').toString());
    return isRecord(header) ? header : {};
  } catch {
    // Three dotted parts that are no JWS: not ours.
    return {};
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Whether an address is one of the operator's proxies (TRUST_PROXY), whose X-Forwarded-* headers are believed. */
export function createTrust(trustProxy: readonly string[]): (address: string) => boolean {
  const ranges = trustProxy.map((entry) => {
    if (entry.includes('/')) return ipaddr.parseCIDR(entry);
    const address = ipaddr.process(entry);
    return [address, address.kind() === 'ipv4' ? 32 : 128] as [ipaddr.IPv4 | ipaddr.IPv6, number];
  });
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(([range, bits]) => parsed.kind() === range.kind() && parsed.match(range, bits));
  };
}

/** The address that an entry of X-Forwarded-For names; some proxies write its port as well. Nothing that is only nearly one. */
function hopIn(entry: string): string | null {
  const text = entry.trim();
  const [, inBrackets, beforePort] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  const address = inBrackets ?? beforePort ?? text;
  return isIP(address) === 0 ? null : address;
}

/** Walks X-Forwarded-For from our side outwards, as far as each hop is trusted. */
function addressOf(request: IncomingMessage, isTrusted: (address: string) => boolean): string | null {
  let address = request.socket.remoteAddress;
  if (address === undefined) return null;
  const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',');
  while (isTrusted(address)) {
    const hop = hopIn(forwarded.pop() ?? '');
    if (hop === null) break;
    address = hop;
  }
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}
