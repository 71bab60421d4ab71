import { serverUrl } from './addresses.ts';

/** The way to the login page of the identity provider, and back with a login code. */

/** Kept for the way back, by this tab alone: a login code is of no use without it (PKCE). */
const VERIFIER = 'kiln.verifier';
const CODE = 'login_code';

/** Leaves for the login page; the way back ends at this address. */
export async function goToSignIn(): Promise<void> {
  const { pathname, search } = location;
  const target = new URL('auth/idp/authorize', serverUrl);
  target.searchParams.set('redirect_url', `${pathname}${search}`);
  const challenge = await newChallenge();
  if (challenge !== null) target.searchParams.set('code_challenge', challenge);
  location.assign(target);
}

/** The verifier of the sign-in that has just come back, once; null for a code of the terminal. */
export function takeVerifier(): string | null {
  const verifier = sessionStorage.getItem(VERIFIER);
  sessionStorage.removeItem(VERIFIER);
  return verifier;
}

/** Takes the login code out of the address, so that nobody copies it; null when there is none. */
export function loginCodeInAddress(): string | null {
  const address = new URL(location.href);
  const fragment = new URLSearchParams(address.hash.slice(1));
  const code = address.searchParams.get(CODE) ?? fragment.get(CODE);
  if (code === null) return null;
  address.searchParams.delete(CODE);
  address.hash = '';
  history.replaceState(history.state, '', address);
  return code;
}

/** A challenge, whose verifier is kept; null on an insecure origin, which can not compute one. */
async function newChallenge(): Promise<string | null> {
  const subtle = (crypto as { readonly subtle?: SubtleCrypto }).subtle;
  if (subtle === undefined) return null;
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  sessionStorage.setItem(VERIFIER, verifier);
  return base64url(new Uint8Array(await subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
