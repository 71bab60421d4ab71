import { lookup as resolve, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';

import ipaddr from 'ipaddr.js';

import { HttpFailure } from './http-client.ts';

/**
 * The outbound rule, against SSRF: configured origins are trusted exactly; any other address must be public, which is
 * checked here by its form and again when the connection is made.
 */
export type OutboundRule = ReturnType<typeof createOutboundRule>;

interface Admission {
  readonly url: URL;
  readonly guarded: boolean;
}

export interface OutboundOptions {
  /** `host:port` of private addresses that may be called (OUTBOUND_ALLOW); an IPv6 host in brackets. */
  readonly allow: readonly string[];
  /** Origins trusted for every call, such as `http://127.0.0.1:4010`. */
  readonly trustedOrigins?: readonly string[];
}

/** Makes the rule of a process from its settings. */
export function createOutboundRule({ allow, trustedOrigins = [] }: OutboundOptions) {
  const allowed = new Set(allow.map((entry) => entry.toLowerCase()));
  const always = new Set(trustedOrigins.map(parseOrigin));
  return {
    /**
     * Whether this URL may be called. `guarded` means that its host must also resolve to public addresses only.
     * Throws HttpFailure REFUSED_ADDRESS.
     */
    admit(text: string, trustedForCall: readonly string[] = []): Admission {
      const url = parse(text);
      const isTrusted =
        always.has(url.origin) || trustedForCall.some((origin) => parseOrigin(origin) === url.origin);
      if (isTrusted || allowed.has(`${url.hostname}:${readPort(url)}`)) return { url, guarded: false };
      const literal = url.hostname.replace(/^\[|\]$/g, '');
      if (isIP(literal) !== 0 && !isPublicAddress(literal))
        throw refused(`${url.host} is not a public address`);
      return { url, guarded: true };
    },
  };
}

function parse(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw refused('this is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refused(`${url.protocol} is not http or https`);
  if (url.username !== '' || url.password !== '')
    throw refused('a URL must not carry a user name or password');
  return url;
}

function parseOrigin(url: string): string | undefined {
  return URL.parse(url)?.origin;
}

function readPort(url: URL): string {
  if (url.port !== '') return url.port;
  return url.protocol === 'https:' ? '443' : '80';
}

/** Azure's host agent: a public address that is answered inside the platform. */
const AZURE_HOST = '168.63.129.16';

/**
 * Whether an address is on the public internet. Private, loopback, link-local (cloud metadata included), shared
 * (CGNAT), multicast and reserved ranges are not, nor is IPv6 that wraps IPv4 (mapped addresses count as what they
 * wrap).
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast' || parsed.toString() === AZURE_HOST) return false;
  // Only 2000::/3 is public IPv6; ::127.0.0.1 and the like are outside it.
  return parsed.kind() === 'ipv4' || parsed.match(ipaddr.parseCIDR('2000::/3'));
}

/** Code of a refusal while connecting, which the HTTP client must tell from a failing name server. */
export const REFUSED_AT_CONNECT = 'KILN_REFUSED_ADDRESS';

/**
 * Name resolution that returns public addresses only. It runs inside the connect, so that a name that resolves
 * differently the second time (DNS rebinding) is refused too.
 */
export function publicLookup(resolver: LookupFunction = resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolver(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, '', 0);
      const addresses = (found as LookupAddress[]).filter(({ address }) => isPublicAddress(address));
      const [first] = addresses;
      if (first === undefined) return callback(notPublic(hostname), '', 0);
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

function notPublic(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} does not resolve to a public address`), {
    code: REFUSED_AT_CONNECT,
  });
}

function refused(message: string): HttpFailure {
  return new HttpFailure('REFUSED_ADDRESS', message, { sent: false });
}
