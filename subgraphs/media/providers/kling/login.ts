import type { Connection } from '../contract/provider.ts';

const LIFETIME_SECONDS = 1_800;
/** The vendor's clock may be a little behind ours. */
const LEEWAY_SECONDS = 5;

/**
 * The authorization header. An API key is already in the connection's headers; a pair of keys signs a new token for
 * every request (HS256, valid for half an hour).
 */
export async function loginHeaders({ credentials }: Connection): Promise<Record<string, string>> {
  const { accessKey, secretKey } = credentials;
  if (accessKey === undefined || secretKey === undefined) return {};
  // Loaded only when needed.
  const { SignJWT } = await import('jose');
  const now = Math.floor(Date.now() / 1000);
  const token = await new SignJWT()
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(accessKey)
    .setExpirationTime(now + LIFETIME_SECONDS)
    .setNotBefore(now - LEEWAY_SECONDS)
    .sign(new TextEncoder().encode(secretKey));
  return { authorization: `Bearer ${token}` };
}
