import * as oidc from 'openid-client';

import { discover } from './discovery.ts';
import { begin, complete, exchange, identityOfToken } from './grants.ts';
import type { IdentityProvider, IdentityProviderOptions } from './identity-provider.ts';

const DAY_MS = 86_400_000;

/** The client over openid-client; openid-connect.ts loads it. Discovery is cached for a day; a failed one is not cached. */
export function createOpenidClient(options: IdentityProviderOptions): IdentityProvider {
  const { settings } = options;
  let known: Promise<oidc.Configuration> | null = null;
  let knownAt = 0;
  const configuration = (): Promise<oidc.Configuration> => {
    if (known === null || Date.now() - knownAt > DAY_MS) {
      knownAt = Date.now();
      const requested = discover(options);
      known = requested;
      requested.catch(() => {
        if (known === requested) known = null;
      });
    }
    return known;
  };
  return {
    begin: async ({ scopes }) => begin(await configuration(), settings, scopes),
    complete: async (query, begun) => complete(await configuration(), settings, { query, begun }),
    exchange: async (request) => exchange(await configuration(), settings, request),
    identityOf: async (idToken, nonce) =>
      identityOfToken(await configuration(), settings, { idToken, nonce }),
    async revoke(refreshToken) {
      const found = await configuration();
      if (found.serverMetadata().revocation_endpoint === undefined) return;
      await oidc.tokenRevocation(found, refreshToken, { token_type_hint: 'refresh_token' });
    },
    async signOutUrl(returnTo) {
      const found = await configuration();
      if (found.serverMetadata().end_session_endpoint === undefined) return null;
      return oidc.buildEndSessionUrl(found, { post_logout_redirect_uri: returnTo }).href;
    },
  };
}
