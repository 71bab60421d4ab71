import compression from 'compression';
import type { RequestHandler } from 'express';

/** Content types that are compressed. Streams (SSE, multipart) are not among them, as each event must leave at once; nor are media. */
const COMPRESSED =
  /^(application\/(json|graphql-response\+json|javascript|manifest\+json)|text\/(html|css|javascript|plain)|image\/svg\+xml)\b/;

/** Paths whose answers hold tokens, and whose requests a browser sends by itself with a cookie. */
const WITH_CREDENTIALS = /^\/auth(\/|$)/i;

/**
 * Compresses JSON and pages of 1 KB and more for callers that accept it. Not where a secret and words of a stranger could
 * meet in one answer (BREACH): nothing below /auth.
 */
export function compressAnswers(): RequestHandler {
  const compress = compression({
    filter: (_request, response) =>
      response.statusCode !== 206 && COMPRESSED.test(String(response.getHeader('content-type'))),
  });
  return (request, response, next) =>
    WITH_CREDENTIALS.test(request.path) ? next() : compress(request, response, next);
}
