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
    const { href } = outbound.admit(text).url;
    if (href.length <= MAX_URL) return href;
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    throw badInput(field, `${field} can't be called: ${error.message}`);
  }
  throw badInput(field, `${field} may have at most ${MAX_URL} characters, percent-encoded`);
}
