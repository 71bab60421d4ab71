import ipaddr from 'ipaddr.js';

import type { Caller } from '../../platform/access/caller.ts';
import type { OwnLimits, RateLimits } from './rates.ts';

/** The limits of a caller: those of RATE_LIMIT_CALLERS that name it, else everybody's; null when it has none. */
export function createCallerLimits(
  everybody: RateLimits,
  callers: readonly OwnLimits[],
): (caller: Caller) => RateLimits | null {
  const entries = callers.map(({ caller: named, limits }) => ({
    isMeant: isMeant(named),
    limits: limits && { ...everybody, ...limits },
  }));
  return (caller) => {
    const own = entries.find((entry) => entry.isMeant(caller));
    return own === undefined ? everybody : own.limits;
  };
}

/** An address is that of callers without a credential: a known caller has the limits of its id. */
function isMeant(named: string): (caller: Caller) => boolean {
  if (!ipaddr.isValid(named) && !ipaddr.isValidCIDR(named)) return ({ id }) => id === named;
  const [range, bits] = rangeOf(named);
  return ({ kind, address }) => {
    if (kind !== 'anonymous' || address === null || !ipaddr.isValid(address)) return false;
    const found = ipaddr.process(address);
    return found.kind() === range.kind() && found.match(range, bits);
  };
}

function rangeOf(named: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (ipaddr.isValidCIDR(named)) return ipaddr.parseCIDR(named);
  const address = ipaddr.process(named);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
