import { once } from '../../../../platform/once.ts';
import type { IdentityProvider, IdentityProviderOptions } from './identity-provider.ts';

/** Creates the client of an identity provider. Its library is loaded, and the provider discovered, when first used. */
export function createIdentityProvider(options: IdentityProviderOptions): IdentityProvider {
  const client = once(() => load(options));
  return {
    begin: async (request) => (await client()).begin(request),
    complete: async (query, begun) => (await client()).complete(query, begun),
    exchange: async (request) => (await client()).exchange(request),
    readIdentity: async (idToken, nonce) => (await client()).readIdentity(idToken, nonce),
    revoke: async (refreshToken) => (await client()).revoke(refreshToken),
    signOutUrl: async (returnTo) => (await client()).signOutUrl(returnTo),
  };
}

async function load(options: IdentityProviderOptions): Promise<IdentityProvider> {
  const { createOpenidClient } = await import('./openid-client.ts');
  return createOpenidClient(options);
}
