import { isIP } from 'node:net';

import { isPublicAddress } from '../../../platform/http/safe-url.ts';

/** Whether an address can be reached from the internet, by its form. Names are not resolved. */
export function isPublicHttps(address: string): boolean {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:') return false;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return isPublicAddress(host);
  return host.includes('.') && !/\.(localhost|local|internal|test|invalid|lan|home\.arpa)$/.test(host);
}
