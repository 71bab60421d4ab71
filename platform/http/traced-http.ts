import { activeTraceparent, inSpan } from '../tracing/span.ts';
import type { HttpClient, HttpRequest } from './http-client.ts';

/** The same client; each call of traced work is a span, and carries the traceparent out. */
export function tracedHttp(http: HttpClient): HttpClient {
  return {
    ...http,
    request: (request) => tracedCall(request, (traced) => http.request(traced)),
    download: (request) => tracedCall(request, (traced) => http.download(traced)),
  };
}

function tracedCall<Answer extends { readonly status: number }>(
  request: HttpRequest,
  send: (request: HttpRequest) => Promise<Answer>,
): Promise<Answer> {
  if (activeTraceparent() === null) return send(request);
  const { method, url } = request;
  // Paths and queries of providers and webhooks may be secrets.
  const host = URL.canParse(url) ? new URL(url).host : 'other';
  const attributes = { 'http.request.method': method, 'server.address': host };
  return inSpan(`${method} ${host}`, { kind: 'client', attributes }, async (span) => {
    const traceparent = activeTraceparent();
    const headers = traceparent === null ? request.headers : { ...request.headers, traceparent };
    const answer = await send(headers === undefined ? request : { ...request, headers });
    span?.set({ 'http.response.status_code': answer.status });
    return answer;
  });
}
