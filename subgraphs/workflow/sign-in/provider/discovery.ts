import * as oidc from 'openid-client';

import { unavailable } from './errors.ts';
import { createProviderFetch } from './fetch.ts';
import type { IdentityProviderOptions } from './identity-provider.ts';

const TIMEOUT_SECONDS = 5;

/** The provider's discovery document, or the endpoints of the settings. UNAVAILABLE. */
export async function discover({ http, settings }: IdentityProviderOptions): Promise<oidc.Configuration> {
  const { issuer, clientId, clientSecret, endpoints } = settings;
  const fetch = createProviderFetch(http, settings);
  const authentication = clientSecret === null ? oidc.None() : oidc.ClientSecretBasic(clientSecret);
  const isPlain = new URL(issuer).protocol === 'http:';
  if (endpoints !== null) {
    const server = {
      issuer,
      authorization_endpoint: endpoints.authorization,
      token_endpoint: endpoints.token,
      userinfo_endpoint: endpoints.userinfo,
    };
    const made = new oidc.Configuration(server, clientId, undefined, authentication);
    made.timeout = TIMEOUT_SECONDS;
    made[oidc.customFetch] = fetch;
    if (isPlain) oidc.allowInsecureRequests(made);
    return made;
  }
  try {
    return await oidc.discovery(new URL(issuer), clientId, undefined, authentication, {
      timeout: TIMEOUT_SECONDS,
      [oidc.customFetch]: fetch,
      ...(isPlain ? { execute: [oidc.allowInsecureRequests] } : {}),
    });
  } catch (cause) {
    throw unavailable(cause);
  }
}
