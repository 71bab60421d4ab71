import ipaddr from 'ipaddr.js';

import { AppError } from '../errors.ts';

/**
 * The caller of a request. Found once per request or socket by the gateway (gateway/authentication), or read from a
 * signed assertion between processes; everything behind relies on it.
 */
export interface Caller {
  readonly kind: 'anonymous' | 'user' | 'key' | 'internal';
  /** `anon`, `usr_...`, `key_...`, or `internal`; equals the `owner` column of what this caller makes. */
  readonly id: string;
  /** What a key may do (`keyScopes`); `admin`, which users may have too, opens the admin rule. */
  readonly scopes: readonly string[];
  /** The only generators that a key may use, `recipe` for tasks by their task type; null or absent: any. */
  readonly generators?: readonly string[] | null;
  /** The session of a user's token. */
  readonly sessionId?: string | null;
  /** When the credential ends by itself. */
  readonly expiresAt?: Date | null;
  /** Joins every log line of one request. */
  readonly traceId: string;
  /** A bearer token that is not Kiln's, for the subgraphs of a foreign supergraph; never sent to Kiln's own. */
  readonly bearer?: string;
  /** The claims of that token, where the gateway has verified it. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** The peer's address, for rate limits and anonymous idempotency; null inside the process. */
  readonly address: string | null;
}

/** What service keys may be allowed: to look, to start work, to change and end their own things, and everything. */
export const keyScopes = ['read', 'start', 'manage', 'admin'] as const;

/** One of them. */
export type KeyScope = (typeof keyScopes)[number];

/** Throws FORBIDDEN for a key that may not use a generator. */
export function enforceGenerator({ generators }: Caller, generator: string): void {
  if (!generators || generators.includes(generator)) return;
  throw new AppError('FORBIDDEN', `this key may use only: ${generators.join(', ')}`, { field: 'generator' });
}

/** The caller of work that Kiln starts by itself (the workflow subgraph starting a task, the worker). */
export function internalCaller(traceId: string): Caller {
  return { kind: 'internal', id: 'internal', scopes: ['service'], traceId, address: null };
}

/** A caller without any credential. */
export function anonymousCaller(traceId: string, address: string | null): Caller {
  return { kind: 'anonymous', id: 'anon', scopes: [], traceId, address };
}

/**
 * Whether a caller may read a row by its id. The unguessable id of an anonymous row is the capability; what a signed-in
 * caller owns is for the owner, admins, service keys and Kiln itself. For others it is not found.
 */
export function mayRead(caller: Caller, owner: string): boolean {
  if (owner === 'anon' || caller.id === owner) return true;
  return caller.kind === 'internal' || caller.kind === 'key' || caller.scopes.includes('admin');
}

/**
 * Whether a caller may change or delete a row: its owner, an admin, Kiln itself. Of an anonymous row, whoever `proves` to
 * have made it: knowing its id is enough unless that id is public.
 */
export function mayChange(caller: Caller, owner: string, proves: () => boolean = () => true): boolean {
  if (caller.kind === 'internal' || caller.scopes.includes('admin')) return true;
  return owner === 'anon' ? proves() : caller.id === owner;
}

/** Whose rows a known caller may list: its own; null means everybody's, for admins and Kiln itself. */
export function listedOwner(caller: Caller): string | null {
  return caller.kind === 'internal' || caller.scopes.includes('admin') ? null : caller.id;
}

/** The key that a caller's requests and connections count against: users and keys their id, all others their address. */
export function createClientKey({ kind, id, address }: Caller): string {
  return kind === 'anonymous' ? createAddressKey(address) : id;
}

/** The key of an address: of IPv6 the /64, which one customer has. */
export function createAddressKey(address: string | null | undefined): string {
  if (!address || !ipaddr.isValid(address)) return `anon:${address ?? 'unknown'}`;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return `anon:${parsed.toString()}`;
  return `anon:${parsed.toNormalizedString().split(':').slice(0, 4).join(':')}::/64`;
}
