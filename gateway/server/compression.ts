import type { IncomingMessage, ServerResponse } from 'node:http';

import compression from 'compression';
import type { Request, RequestHandler, Response } from 'express';

/** Content types that are compressed: not media, and not streams, whose events must be sent at once. */
const COMPRESSED =
  /^(application\/(json|graphql-response\+json|javascript|manifest\+json)|text\/(html|css|javascript|plain)|image\/svg\+xml)\b/;

/** Paths whose responses contain tokens, and whose requests browsers send with a cookie. */
const WITH_CREDENTIALS = /^\/auth(\/|$)/i;

/**
 * Compresses JSON and pages of 1 KB and more for callers that accept it. Not below /auth, where a secret and foreign
 * text could be in one response (BREACH).
 */
export function compressAnswers(): RequestHandler {
  const compress = createCompression();
  return (request, response, next) =>
    WITH_CREDENTIALS.test(request.path) ? next() : compress(request, response, next);
}

/** The same for one response of a path that has no credentials. */
export function compressPlain(): (request: IncomingMessage, response: ServerResponse) => void {
  const compress = createCompression();
  // Says what the answer depends on, as ever, without finding out anew that nothing is accepted.
  const onlyMark = createCompression(Infinity);
  return (request, response) => {
    const handle = request.headers['accept-encoding'] === undefined ? onlyMark : compress;
    // The package's types are Express's; it uses none of that.
    handle(request as Request, response as Response, () => undefined);
  };
}

/** Answers of fewer bytes stay as they are. */
function createCompression(threshold = 1_024): RequestHandler {
  return compression({
    threshold,
    filter: (_request, response) =>
      response.statusCode !== 206 && COMPRESSED.test(String(response.getHeader('content-type'))),
  });
}
