import { badInput } from '../../../../platform/errors.ts';

/**
 * The allowed redirects after signing in: our own paths, and the apps that the operator has listed. Anything else would be
 * an open redirect. Pure.
 */
export interface RedirectRule {
  /** PUBLIC_URL. */
  readonly publicUrl: string;
  /** SIGN_IN_REDIRECTS: exact origins, and custom schemes such as `com.example.app:`. */
  readonly allowed: readonly string[];
}

const MAX_LENGTH = 2_000;

/** The absolute address: a relative one could be read as another host. BAD_USER_INPUT. */
export function checkedRedirect(target: string, rule: RedirectRule, field = 'redirect_url'): string {
  const url = readTarget(target, rule.publicUrl);
  // `/.//host` is a path of ours that others would read as a host.
  if (url !== null && isAllowed(url, rule) && !url.pathname.startsWith('//')) return url.href;
  throw badInput(field, `${field} must be a path of this service, or an address that is allowed here`);
}

function readTarget(target: string, publicUrl: string): URL | null {
  // URL parsers disagree on spaces, control characters and backslashes.
  if (target.length > MAX_LENGTH || /[\p{Cc}\s\\]/u.test(target)) return null;
  if (target.startsWith('/')) return target.startsWith('//') ? null : URL.parse(target, publicUrl);
  return URL.parse(target);
}

function isAllowed(url: URL, { publicUrl, allowed }: RedirectRule): boolean {
  if (url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'http:' || url.protocol === 'https:') {
    return [new URL(publicUrl).origin, ...allowed].includes(url.origin);
  }
  return allowed.includes(url.protocol);
}
