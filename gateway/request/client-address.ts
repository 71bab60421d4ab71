import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';

import ipaddr from 'ipaddr.js';

import { requestSlot } from '../../platform/request-slot.ts';

/** The client address of a request, by the proxies that are trusted. */

/** Makes the check whether an address is a trusted proxy (TRUST_PROXY). */
export function createTrust(trustProxy: readonly string[]): (address: string) => boolean {
  const ranges = trustProxy.map((entry) => {
    if (entry.includes('/')) return ipaddr.parseCIDR(entry);
    const address = ipaddr.process(entry);
    return [address, address.kind() === 'ipv4' ? 32 : 128] as [ipaddr.IPv4 | ipaddr.IPv6, number];
  });
  if (ranges.length === 0) return () => false;
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(([range, bits]) => parsed.kind() === range.kind() && parsed.match(range, bits));
  };
}

/** The address in an entry of X-Forwarded-For, with or without a port; null when there is no valid one. */
function hopIn(entry: string): string | null {
  const text = entry.trim();
  const [, inBrackets, beforePort] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  const address = inBrackets ?? beforePort ?? text;
  return isIP(address) === 0 ? null : address;
}

/** The client's address: follows X-Forwarded-For from our side as far as each hop is trusted. */
export function findClientAddress(
  request: IncomingMessage,
  isTrusted: (address: string) => boolean,
): string | null {
  let address = request.socket.remoteAddress;
  if (address === undefined) return null;
  const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',');
  while (isTrusted(address)) {
    const hop = hopIn(forwarded.pop() ?? '');
    if (hop === null) break;
    address = hop;
  }
  return plainAddress(address, request.socket);
}

const lastAddresses = requestSlot<Socket, { readonly from: string; readonly plain: string }>('address');

/** IPv4 within IPv6 as IPv4. A connection mostly has one client, whose address is read once. */
function plainAddress(address: string, socket: Socket): string {
  const last = lastAddresses.of(socket);
  if (last?.from === address) return last.plain;
  const plain = ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
  lastAddresses.keep(socket, { from: address, plain });
  return plain;
}
