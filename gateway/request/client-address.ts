import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';

/** Where a request comes from, as far as the proxies before us are believed. */

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

/** The address of whoever sent it: walks X-Forwarded-For from our side outwards, as far as each hop is trusted. */
export function addressOf(request: IncomingMessage, isTrusted: (address: string) => boolean): string | null {
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
