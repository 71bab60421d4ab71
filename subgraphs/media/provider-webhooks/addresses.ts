import { createHmac, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';

import { isPublicAddress } from '../../../platform/http/safe-url.ts';
import type { Binding } from '../generators/bindings/binding.ts';

/** The addresses at which upstreams tell that something happened to an attempt: each carries which, and a proof that we made it. */
export interface NoticeAddresses {
  /** The address for one start; undefined where its upstream could not reach us. */
  readonly addressFor: (
    binding: { readonly provider: Pick<Binding['provider'], 'name'>; readonly sandbox: boolean },
    reference: string,
  ) => string | undefined;
  /** The reference that an address carries; null when we did not make it. */
  readonly referenceOf: (provider: string, query: URLSearchParams) => string | null;
}

export interface NoticeAddressOptions {
  /** PUBLIC_URL without a trailing slash. */
  readonly publicUrl: string;
  /** The same in every process and after a restart; a key of its own is made of it. */
  readonly secret: string;
}

/** Makes and reads them. */
export function createNoticeAddresses({ publicUrl, secret }: NoticeAddressOptions): NoticeAddresses {
  const key = createHmac('sha256', secret).update('addresses of notices').digest();
  const isReachable = isPublicHttps(publicUrl);
  const proofOf = (provider: string, reference: string): Buffer =>
    createHmac('sha256', key).update(`${provider}\n${reference}`).digest();
  return {
    addressFor({ provider: { name }, sandbox }, reference) {
      // The sandbox is on this machine, whatever our address is.
      if (!isReachable && !sandbox) return undefined;
      const mac = proofOf(name, reference).toString('base64url');
      return `${publicUrl}/hooks/${name}?attempt=${encodeURIComponent(reference)}&mac=${mac}`;
    },
    referenceOf(provider, query) {
      const reference = query.get('attempt') ?? '';
      const given = Buffer.from(query.get('mac') ?? '', 'base64url');
      const proof = proofOf(provider, reference);
      return given.length === proof.length && timingSafeEqual(given, proof) ? reference : null;
    },
  };
}

/** Whether anybody on the internet could call this address. Names are not looked up: a wrong one costs a notice, nothing else. */
export function isPublicHttps(address: string): boolean {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:') return false;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return isPublicAddress(host);
  return host.includes('.') && !/\.(localhost|local|internal|test|invalid|lan|home\.arpa)$/.test(host);
}
