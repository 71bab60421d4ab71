import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/** The keys that sign the old service's access tokens. */
export async function createKeys() {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const published = { keys: [{ ...(await exportJWK(publicKey)), kid: 'old', alg: 'RS256' }] };
  return {
    published,
    /** An access token of the user sub-ada. */
    token: () =>
      new SignJWT({ iss: 'https://old.example.org', aud: 'old-api', sub: 'sub-ada' })
        .setProtectedHeader({ alg: 'RS256', kid: 'old' })
        .setExpirationTime('1h')
        .sign(privateKey),
  };
}
