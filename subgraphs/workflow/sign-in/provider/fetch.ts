import type { CustomFetch } from 'openid-client';

import type { HttpClient } from '../../../../platform/http/http-client.ts';

/** The fetch function of the OpenID Connect library: our HTTP client, with its limits and the outbound rule. */

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1 << 20;

/** The addresses of the identity provider. */
export interface ProviderAddress {
  readonly issuer: string;
  /** Endpoints set by hand. */
  readonly endpoints: Readonly<Record<string, string>> | null;
  /** The issuer's address for this process, when it differs from the public one. */
  readonly internalUrl: string | null;
}

/** A fetch for one provider. Its origins come from the settings and are trusted; others must be public. */
export function createProviderFetch(http: HttpClient, place: ProviderAddress): CustomFetch {
  const { issuer, endpoints, internalUrl: reachedAt } = place;
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
      ...(body === undefined || body === null ? {} : { body: textOf(body) }),
      timeoutMs: TIMEOUT_MS,
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

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('an identity provider is sent forms and texts only');
}
