import { isIP } from 'node:net';

import { isPublicAddress } from '../../../platform/http/safe-url.ts';

/** Whether anybody on the internet could call this address. Names are not looked up: a wrong one costs a request, nothing else. */
export function isPublicHttps(address: string): boolean {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:') return false;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return isPublicAddress(host);
  return host.includes('.') && !/\.(localhost|local|internal|test|invalid|lan|home\.arpa)$/.test(host);
}
