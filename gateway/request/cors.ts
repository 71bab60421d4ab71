import type { IncomingMessage, ServerResponse } from 'node:http';

import { addVary, type Exchange } from './steps.ts';

/** Browser origins that may read responses: any, or exactly these (`https://example.com`). Never with credentials. */
export type CorsOrigins = 'any' | readonly string[];

/** The cross-origin rules for requests and for streams. */
export type Cors = ReturnType<typeof createCors>;

const EXPOSED_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'Deprecation',
  'Sunset',
  'X-Trace-Id',
  'X-Ignored-Fields',
  'X-Manage-Token',
  'X-Kiln-Task',
  'X-Kiln-Cost',
  'X-Request-Id',
  'Location',
  'Content-Disposition',
  'ETag',
].join(', ');
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const PREFLIGHT_SECONDS = '600';

/** Cross-origin rules of CORS_ORIGINS, for HTTP and for WebSocket upgrades (which browsers do not restrict). */
export function createCors({ origins }: { readonly origins: CorsOrigins }) {
  const allowed = origins === 'any' ? undefined : new Set(origins.map((origin) => origin.replace(/\/$/, '')));
  const isAllowed = (origin: string): boolean => allowed === undefined || allowed.has(origin);

  function mark({ headers: { origin } }: IncomingMessage, response: ServerResponse): void {
    // The first to set it: whatever else a response varies by is added later.
    if (allowed !== undefined) response.setHeader('Vary', 'Origin');
    if (origin === undefined || !isAllowed(origin)) return;
    response.setHeader('Access-Control-Allow-Origin', allowed === undefined ? '*' : origin);
    response.setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS);
  }

  return {
    /** Whether a request may open a socket or stream, by its Origin, else by Sec-Fetch-Site. */
    allows(request: IncomingMessage): boolean {
      const { origin } = request.headers;
      if (origin === undefined) return allowed === undefined || !isOfAnotherSite(request);
      return isAllowed(origin) || isSameHost(origin, request.headers.host);
    },
    /** Sets the headers by which browsers give a response to the page that asked, and responds to preflights. */
    step: ({ request, response }: Exchange): boolean => {
      const { origin } = request.headers;
      mark(request, response);
      if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) {
        return true;
      }
      if (origin !== undefined && isAllowed(origin)) {
        const wanted = request.headers['access-control-request-headers'];
        response.setHeader('Access-Control-Allow-Methods', METHODS);
        if (wanted !== undefined) response.setHeader('Access-Control-Allow-Headers', wanted);
        response.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
        addVary(response, 'Access-Control-Request-Headers');
      }
      response.statusCode = 204;
      response.end();
      return false;
    },
  };
}

/** Pages may send a GET without an Origin (`no-cors`); then Sec-Fetch-Site names their site. */
function isOfAnotherSite({ headers }: IncomingMessage): boolean {
  return ['cross-site', 'same-site'].includes(String(headers['sec-fetch-site']));
}

function isSameHost(origin: string, host: string | undefined): boolean {
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}
