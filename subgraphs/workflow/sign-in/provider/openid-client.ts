import * as oidc from 'openid-client';
import type { CustomFetch } from 'openid-client';

import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { unavailable } from './errors.ts';
import { begin, complete, exchange, identityOfToken } from './grants.ts';
import type {
  IdentityProvider,
  IdentityProviderOptions,
  IdentityProviderSettings,
} from './identity-provider.ts';

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
    readIdentity: async (idToken, nonce) =>
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

const TIMEOUT_MS = 5_000;

/** The provider's discovery document, or the endpoints of the settings. UNAVAILABLE. */
async function discover({ http, settings }: IdentityProviderOptions): Promise<oidc.Configuration> {
  const { issuer, clientId, clientSecret, endpoints, timeoutMs = TIMEOUT_MS } = settings;
  const timeout = timeoutMs / 1000;
  const fetch = createProviderFetch(http, settings, timeoutMs);
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
    made.timeout = timeout;
    made[oidc.customFetch] = fetch;
    if (isPlain) oidc.allowInsecureRequests(made);
    return made;
  }
  try {
    return await oidc.discovery(new URL(issuer), clientId, undefined, authentication, {
      timeout,
      [oidc.customFetch]: fetch,
      ...(isPlain ? { execute: [oidc.allowInsecureRequests] } : {}),
    });
  } catch (cause) {
    throw unavailable(cause);
  }
}

/** The fetch function of the OpenID Connect library: our HTTP client, with its limits and the outbound rule. */

const MAX_BYTES = 1 << 20;

/** A fetch for one provider. Its origins come from the settings and are trusted; others must be public. */
function createProviderFetch(
  http: HttpClient,
  { issuer, endpoints, internalUrl: reachedAt }: IdentityProviderSettings,
  timeoutMs: number,
): CustomFetch {
  const own = [issuer, ...Object.values(endpoints ?? {}), ...(reachedAt === null ? [] : [reachedAt])];
  const trustedOrigins = own.map((url) => new URL(url).origin);
  return async (url, { method, headers, body, signal }) => {
    const {
      status,
      headers: answered,
      body: content,
    } = await http.request({
      method: method === 'POST' ? 'POST' : 'GET',
      url:
        reachedAt !== null && url.startsWith(`${issuer}/`) ? `${reachedAt}${url.slice(issuer.length)}` : url,
      headers,
      ...(body === undefined || body === null ? {} : { body: toText(body) }),
      timeoutMs,
      maxBytes: MAX_BYTES,
      ...(signal === undefined ? {} : { signal }),
      // Codes and refresh tokens are single-use; reads can be retried.
      retry: method === 'POST' ? 'never' : 'safe',
      trustedOrigins,
    });
    const hasBody = status !== 204 && status !== 304;
    return new Response(hasBody ? new Uint8Array(content) : null, { status, headers: answered });
  };
}

function toText(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('an identity provider is sent forms and texts only');
}
