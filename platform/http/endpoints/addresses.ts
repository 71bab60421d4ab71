import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';

/** Where a process is: a URL's origin, and the address where its name has several. */
export interface Place {
  readonly origin: string;
  /** Null: whatever the name stands for when a connection is made. */
  readonly address: LookupAddress | null;
}

/** All addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** Most addresses of one name that are used. */
const MAX_ADDRESSES = 64;

/** The places behind these URLs now. Null when a name has no answer: those of before stay. */
export async function addressesOf(
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
export function hasName(url: string): boolean {
  return !/^(?:[\d.]+|\[.*\]|localhost)$/.test(new URL(url).hostname);
}
