import { badInput } from '../../../platform/errors.ts';
import { HttpFailure } from '../../../platform/http/http-client.ts';
import type { OutboundRule } from '../../../platform/http/safe-url.ts';

/** Longest callback address, in characters. */
const MAX_URL = 2_000;

/**
 * A callback address as it is stored. BAD_USER_INPUT when it is too long, not http or https, has a user name, or is a
 * private address by its form; what a name resolves to is checked at every connection.
 */
export function checkedCallbackUrl(outbound: OutboundRule, text: string, field = 'callbackUrl'): string {
  if (text.length > MAX_URL) throw badInput(field, `${field} may have at most ${MAX_URL} characters`);
  try {
    const { url, guarded } = outbound.admit(text);
    const { href } = url;
    if (guarded && isThisMachine(url)) {
      throw badInput(field, `${field} can't be called: ${url.host} is not a public address${remedyFor(url)}`);
    }
    if (href.length <= MAX_URL) return href;
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    const url = URL.parse(text);
    const remedy = url !== null && isThisMachine(url) ? remedyFor(url) : '';
    throw badInput(field, `${field} can't be called: ${error.message}${remedy}`);
  }
  throw badInput(field, `${field} may have at most ${MAX_URL} characters, percent-encoded`);
}

/** Names and addresses that mean the machine itself, as somebody writes who tries webhooks on their own. */
const THIS_MACHINE = /^(?:127\.[\d.]+|\[::1\]|(?:.+\.)?localhost\.?)$/;

function isThisMachine({ hostname }: URL): boolean {
  return THIS_MACHINE.test(hostname);
}

/** A server for development can be told to call it. */
function remedyFor({ protocol, hostname, port }: URL): string {
  const known = port === '' ? { 'http:': '80', 'https:': '443' }[protocol] : port;
  return known === undefined ? '' : `; the operator can allow it with OUTBOUND_ALLOW=${hostname}:${known}`;
}
