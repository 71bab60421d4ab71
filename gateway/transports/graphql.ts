import { type ErrorRequestHandler, json, type RequestHandler, Router } from 'express';

import { codedError } from '../../platform/graphql/operations/errors.ts';
import { createUploadMiddleware } from '../../platform/graphql/uploads/uploads.ts';
import { answerGraphql } from '../authentication/authenticate.ts';
import { overLimit } from '../authentication/count-requests.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import type { Cors } from '../request/cors.ts';
import type { ErrorFormatter } from '../request/errors.ts';
import { contextOf } from '../request/request-context.ts';
import { takenBodyOf } from '../request/taken-body.ts';
import type { TransportOptions } from './admission/transport.ts';
import { createHttpTransport } from './http.ts';
import { createLandingPage } from './landing-page.ts';
import { createMultipartTransport } from './streams/multipart.ts';
import type { ResponseStreams } from './streams/response-stream.ts';
import { createSseTransport } from './streams/sse.ts';

/** Options of /graphql. */
export interface GraphqlRouterOptions extends TransportOptions {
  readonly streams: ResponseStreams;
  /** Which origins may open streams. */
  readonly cors: Pick<Cors, 'allows'>;
  readonly basePath: string;
  /** No introspection and no Apollo Sandbox in production. */
  readonly production: boolean;
  readonly introspection: boolean;
  /** Whether /sandbox is served, for a link to it. */
  readonly hasSandbox: boolean;
  /** Absent when rates are not limited. */
  readonly rateLimiter?: RateLimiter | undefined;
  /** Largest JSON body in bytes. */
  readonly maxBodyBytes: number;
  /** Largest JSON body of callers without a credential in bytes. */
  readonly anonymousBodyBytes: number;
  /** Largest uploaded file in bytes. */
  readonly uploadMaxBytes: number;
}

/** The mounted transports. */
export interface GraphqlRouter {
  readonly router: Router;
  close(): Promise<void>;
}

/** Makes the router of /graphql over HTTP, in reading order. WebSockets come by upgrade (websocket.ts). */
export function createGraphqlRouter(options: GraphqlRouterOptions): GraphqlRouter {
  const { basePath, production, uploadMaxBytes, errors, rateLimiter } = options;
  const multipart = createMultipartTransport(options);
  const http = createHttpTransport({ ...options, multipart });
  const router = Router();
  router.use(createLandingPage({ basePath, embedSandbox: !production, hasSandbox: options.hasSandbox }));
  // Before the body is read: what can't be read is a request too.
  router.use(countGraphql(rateLimiter));
  router.use(
    byCredential((maxBytes) => {
      const upload = createUploadMiddleware({ maxFileSize: uploadMaxBytes, maxFieldBytes: maxBytes });
      return [upload, readJson(maxBytes)];
    }, options),
  );
  router.use(createSseTransport(options));
  router.use((request, _response, next) => {
    // The body parser may leave it undefined; Apollo Server's middleware wants the property to exist.
    request.body ??= undefined;
    next();
  });
  router.use(...http.handlers);
  router.use(answerErrors(errors));
  return { router, close: () => http.close() };
}

/** Handlers of bodies that are bounded by whether their caller has a credential. */
function byCredential(
  make: (maxBytes: number) => RequestHandler[],
  { maxBodyBytes, anonymousBodyBytes }: GraphqlRouterOptions,
): RequestHandler {
  const known = Router().use(...make(maxBodyBytes));
  const anonymous = Router().use(...make(anonymousBodyBytes));
  return (request, response, next) =>
    (contextOf(request).caller.kind === 'anonymous' ? anonymous : known)(request, response, next);
}

/** Reads JSON bodies; small ones may have been read before. */
function readJson(maxBytes: number): RequestHandler {
  const parser = json({ limit: maxBytes, type: ['application/json', 'application/*+json'] });
  return (request, response, next) => {
    const taken = takenBodyOf(request);
    if (taken === undefined) return parser(request, response, next);
    if (taken === 'unreadable') return next({ status: 400, type: 'entity.parse.failed' });
    request.body = taken.value;
    next();
  };
}

/** Counts every request as a read. */
function countGraphql(rateLimiter: RateLimiter | undefined): RequestHandler {
  return async (request, response, next) => {
    const { caller } = contextOf(request);
    const refusal = await overLimit(caller, { rateLimiter, rateClass: 'read', response });
    if (refusal === null) next();
    else answerGraphql(response, refusal);
  };
}

/** Responds to unreadable bodies and unexpected errors as GraphQL clients expect. */
function answerErrors(errors: ErrorFormatter): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    const status = bodyErrorStatus(error);
    const { traceId, kind } = contextOf(request).caller;
    const who = kind === 'anonymous' ? ' of a caller without a credential' : '';
    const coded =
      status === 413
        ? codedError('PAYLOAD_TOO_LARGE', `the request body${who} is too large`)
        : codedError('BAD_REQUEST', 'the request body is not readable JSON');
    const shown = errors.formatError(status === undefined ? error : coded, traceId);
    response.status(status ?? 500).json({ errors: [shown] });
  };
}

/** The status of a failed body parser: 413 or another 4xx; undefined for any other error. */
function bodyErrorStatus(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('status' in error) || !('type' in error))
    return undefined;
  const { status } = error;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
}
