import type { IncomingMessage, ServerResponse } from 'node:http';

import compression from 'compression';
import type { Request, RequestHandler, Response } from 'express';

import { requestSlot } from '../../platform/request-slot.ts';
import { addVary, type Exchange } from './steps.ts';

/** Content types that are compressed: not media, and not streams, whose events must be sent at once. */
const COMPRESSED =
  /^(application\/(json|graphql-response\+json|javascript|manifest\+json)|text\/(html|css|javascript|plain)|image\/svg\+xml)\b/;

/** Paths whose responses contain tokens, and whose requests browsers send with a cookie. */
const WITH_CREDENTIALS = /^\/auth(\/|$)/i;

/** Answers of fewer bytes stay as they are. */
const THRESHOLD = 1_024;

/**
 * Compresses JSON and pages of 1 KB and more for callers that accept it, and sets Vary where they might have been. Not below
 * /auth, where a secret and foreign text could be in one response (BREACH).
 */
export type Compression = ReturnType<typeof createCompression>;

/** Makes the compression of all answers. */
export function createCompression() {
  const compress = compressionMiddleware(THRESHOLD);
  // Sets Vary, without finding out anew that nothing is accepted.
  const onlyMark = compressionMiddleware(Infinity);
  const wrapped = requestSlot<ServerResponse, true>('wrapped');
  const isAccepted = ({ headers }: IncomingMessage) => headers['accept-encoding'] !== undefined;
  // The package's types are Express's; it uses none of that.
  const handle = (handler: RequestHandler, request: IncomingMessage, response: ServerResponse) =>
    handler(request as Request, response as Response, () => undefined);
  return {
    /** Wraps a response of which nothing is known yet: whether it is compressed is decided when its head is sent. */
    beforeHead: ({ request, response, path }: Exchange): true => {
      if (wrapped.of(response) === true || WITH_CREDENTIALS.test(path)) return true;
      wrapped.keep(response, true);
      handle(isAccepted(request) ? compress : onlyMark, request, response);
      return true;
    },
    /**
     * Decides for JSON of a known size whose head is set: the response is wrapped only if it will be compressed. Where
     * `beforeHead` has run, nothing is left to do.
     */
    afterHead(request: IncomingMessage, response: ServerResponse, bytes: number): void {
      if (wrapped.of(response) === true) return;
      if (bytes >= THRESHOLD && isAccepted(request)) handle(compress, request, response);
      else addVary(response, 'Accept-Encoding');
    },
  };
}

function compressionMiddleware(threshold: number): RequestHandler {
  return compression({
    threshold,
    filter: (_request, response) =>
      response.statusCode !== 206 && COMPRESSED.test(String(response.getHeader('content-type'))),
  });
}
