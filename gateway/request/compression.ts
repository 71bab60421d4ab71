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
  const compress = compressionMiddleware();
  return (request, response, next) =>
    WITH_CREDENTIALS.test(request.path) ? next() : compress(request, response, next);
}

/** Compresses single responses of paths that have no credentials, and sets Vary where they might have been compressed. */
export interface Compression {
  /** Wraps a response of which nothing is known yet: whether it is compressed is decided when its head is sent. */
  beforeHead(request: IncomingMessage, response: ServerResponse): void;
  /** Decides for JSON of a known size whose head is set: the response is wrapped only if it will be compressed. */
  afterHead(request: IncomingMessage, response: ServerResponse, bytes: number): void;
}

/** Makes the compression of the fast path. */
export function createCompression(): Compression {
  const compress = compressionMiddleware();
  // Sets Vary, without finding out anew that nothing is accepted.
  const onlyMark = compressionMiddleware(Infinity);
  const isAccepted = ({ headers }: IncomingMessage) => headers['accept-encoding'] !== undefined;
  // The package's types are Express's; it uses none of that.
  const handle = (handler: RequestHandler, request: IncomingMessage, response: ServerResponse) =>
    handler(request as Request, response as Response, () => undefined);
  return {
    beforeHead: (request, response) => handle(isAccepted(request) ? compress : onlyMark, request, response),
    afterHead(request, response, bytes) {
      if (bytes >= THRESHOLD && isAccepted(request)) handle(compress, request, response);
      else
        response.setHeader('Vary', [response.getHeader('Vary') ?? [], 'Accept-Encoding'].flat().join(', '));
    },
  };
}

/** Answers of fewer bytes stay as they are. */
const THRESHOLD = 1_024;

function compressionMiddleware(threshold = THRESHOLD): RequestHandler {
  return compression({
    threshold,
    filter: (_request, response) =>
      response.statusCode !== 206 && COMPRESSED.test(String(response.getHeader('content-type'))),
  });
}
