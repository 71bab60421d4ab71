import ipaddr from 'ipaddr.js';

import type { Caller } from './caller.ts';

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
