import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';

import type { Logger } from '../../process/logger.ts';
import { createLoop } from '../../process/loop.ts';
import { type Endpoint, createHealth } from './endpoint-health.ts';

/** Where a process is: a URL's origin, and the address where its name has several. */
interface Place {
  readonly origin: string;
  /** Null: whatever the name stands for when a connection is made. */
  readonly address: LookupAddress | null;
}

/** All addresses of a host name. */
type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** Most addresses of one name that are used. */
const MAX_ADDRESSES = 64;

/** The places behind these URLs now. Null when a name has no answer: those of before stay. */
async function resolveAddresses(
  urls: readonly string[],
  resolve: Resolve = (host) => lookup(host, { all: true }),
): Promise<readonly Place[] | null> {
  try {
    const found = await Promise.all(
      urls.map(async (url) => {
        const { origin, hostname } = new URL(url);
        if (!hasName(url)) return [{ origin, address: null }];
        const addresses = (await resolve(hostname)).slice(0, MAX_ADDRESSES);
        if (addresses.length < 2) return [{ origin, address: null }];
        return addresses.map((address) => ({ origin, address }));
      }),
    );
    return found.flat();
  } catch {
    return null;
  }
}

/** Whether a URL's host is a name that may have several addresses. */
function hasName(url: string): boolean {
  return !/^(?:[\d.]+|\[.*\]|localhost)$/.test(new URL(url).hostname);
}

/** The processes of one service, of which each request takes the next that is well. */
export interface Endpoints {
  /** The path and query that all of them have. */
  readonly path: string;
  /** How many there are now. */
  count(): number;
  /** The next in turn that is not among `tried`: of those that are well if there are any. Undefined: all were tried. */
  next(tried?: ReadonlySet<Endpoint>): Endpoint | undefined;
  /** It has answered. */
  succeeded(endpoint: Endpoint): void;
  /** A request failed there; `unreachable`: no connection was made. It gets no more until it is seen to be well. */
  failed(endpoint: Endpoint, failure: { readonly unreachable: boolean }): void;
  /** Calls back when an address has left a name. */
  onGone(listener: (endpoint: Endpoint) => void): void;
  close(): Promise<void>;
}

export interface EndpointsOptions {
  /** URLs of the service, all with the same path. A host name may have several addresses. */
  readonly urls: readonly string[];
  readonly logger: Logger;
  /** Addresses of a host name (default: the system's resolver). */
  readonly resolve?: Resolve;
  /** Milliseconds between two looks at the names and at the health of each process (default 2,000). */
  readonly everyMs?: number;
  /** Milliseconds for an answer of /readyz; the second one that is missing counts as death (default 2,000). */
  readonly timeoutMs?: number;
}

/**
 * Makes the endpoints. With several, each is asked for /readyz every two seconds: one that is not ready or does not
 * answer gets no requests until it does. When none is well all are tried, because then nothing else is known.
 */
export function createEndpoints(options: EndpointsOptions): Endpoints {
  const { urls, logger, resolve, everyMs = 2_000, timeoutMs = 2_000 } = options;
  const { pathname, search } = new URL(urls[0] ?? '');
  let current = urls.map((url) => endpointAt({ origin: new URL(url).origin, address: null }));
  const gone: ((endpoint: Endpoint) => void)[] = [];
  const health = createHealth({ logger, timeoutMs });
  let turn = 0;

  async function look(): Promise<void> {
    const places = await resolveAddresses(urls, resolve);
    if (places !== null) update(places);
    if (current.length > 1) await Promise.all(current.map((endpoint) => health.ask(endpoint)));
  }
  function update(places: readonly Place[]): void {
    const before = new Map(current.map((endpoint) => [endpoint.key, endpoint]));
    current = places.map((place) => before.get(formatKey(place)) ?? endpointAt(place));
    for (const endpoint of before.values()) {
      if (current.includes(endpoint)) continue;
      health.forget(endpoint);
      for (const listener of gone) listener(endpoint);
    }
  }
  const loop = createLoop({ tick: look, everyMs, logger, name: 'endpoints' });
  // One fixed address has no other to turn to.
  if (urls.length > 1 || urls.some(hasName)) loop.start();

  return {
    path: pathname + search,
    count: () => current.length,
    next(tried = new Set()) {
      const left = current.filter((endpoint) => !tried.has(endpoint));
      const well = left.filter((endpoint) => health.isWell(endpoint));
      const among = well.length > 0 ? well : left;
      turn = (turn + 1) % Number.MAX_SAFE_INTEGER;
      return among[turn % among.length];
    },
    succeeded: (endpoint) => health.succeeded(endpoint),
    failed(endpoint, { unreachable }) {
      if (current.length < 2) return;
      if (unreachable) health.eject(endpoint, 'no connection');
      else loop.wake();
    },
    onGone: (listener) => void gone.push(listener),
    close: () => loop.stop(),
  };

  function endpointAt(place: Place): Endpoint & { readonly key: string } {
    const endpoint = {
      key: formatKey(place),
      origin: place.origin,
      lookup: place.address === null ? undefined : createLookup(place.address),
      lost: () => health.lost(endpoint),
    };
    return endpoint;
  }
}

const formatKey = ({ origin, address }: Place): string => `${origin} ${address?.address ?? ''}`;

function createLookup({ address, family }: NonNullable<Place['address']>): LookupFunction {
  return (_host, options, done) => {
    if (options.all === true) done(null, [{ address, family }]);
    else done(null, address, family);
  };
}
