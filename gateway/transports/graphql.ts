import { type ErrorRequestHandler, json, type RequestHandler, Router } from 'express';
import { GraphQLError } from 'graphql';

import { codedError } from '../../platform/graphql/operations/errors.ts';
import { createUploadMiddleware } from '../../platform/graphql/uploads/uploads.ts';
import { noteRequest } from '../../platform/http/request-facts.ts';
import { once } from '../../platform/once.ts';
import { answerGraphql } from '../authentication/authenticate.ts';
import { overLimit } from '../authentication/count-requests.ts';
import { rateHeaders, type RateLimiter } from '../limits/rate-limit.ts';
import type { Cors } from '../request/cors.ts';
import type { ErrorFormatter } from '../request/errors.ts';
import { contextOf } from '../request/request-context.ts';
import { takenBodyOf } from '../request/taken-body.ts';
import { readOperation, readOperationOfUrl } from './admission/read-operation.ts';
import { needsStream, refusedAnswer, type TransportOptions } from './admission/transport.ts';
import type { ApolloHandler } from './apollo-server.ts';
import { answerBatches } from './batches.ts';
import { createLandingPage } from './landing-page.ts';
import { expandPersisted } from './persisted.ts';
import { createMultipartTransport, type MultipartTransport } from './streams/multipart.ts';
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
  /** Most operations in one body (default 1: a list is refused). */
  readonly maxBatch?: number | undefined;
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
  const { maxBatch = 1 } = options;
  if (maxBatch > 1) router.use(answerBatches(options, maxBatch));
  if (options.expand !== undefined) router.use(expandPersisted(options.expand, errors));
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

/** Queries and mutations over HTTP: Apollo Server over the federation, behind admission. */
interface HttpTransport {
  /** The handlers in their order, after the parsers of JSON bodies and uploads. */
  readonly handlers: readonly RequestHandler[];
  close(): Promise<void>;
}

/** Options of the HTTP transport. */
interface HttpTransportOptions extends TransportOptions {
  /** Whether introspection is allowed. */
  readonly introspection: boolean;
  /** Serves subscriptions to clients that accept multipart. */
  readonly multipart: MultipartTransport;
}

/** Makes the transport. Apollo Server is loaded when an operation first comes that does not take the fast path. */
function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const apollo = once(() => startApollo(options));
  const answerByApollo: RequestHandler = async (request, response, next) => {
    const { handle } = await apollo();
    handle(request, response, next);
  };
  return {
    handlers: [admitOverHttp(options), answerByApollo],
    close: async () => (await apollo.kept())?.stop(),
  };
}

async function startApollo(options: HttpTransportOptions): Promise<ApolloHandler> {
  const { startApolloServer } = await import('./apollo-server.ts');
  return startApolloServer(options);
}

/** Admits operations before Apollo Server validates them, and handles subscriptions. */
function admitOverHttp({ admission, errors, multipart }: HttpTransportOptions): RequestHandler {
  return async (request, response, next) => {
    const { caller } = contextOf(request);
    const answer = (status: number, error: GraphQLError): void => {
      response.status(status).json({ errors: [errors.formatError(error, caller.traceId)] });
    };
    const operation =
      request.method === 'GET' ? readOperationOfUrl(request.originalUrl) : readOperation(request.body);
    if (operation instanceof GraphQLError) {
      // Apollo Server explains requests without an operation, in the words its clients know; batches are refused here.
      return operation.extensions['code'] === 'QUERY_REFUSED' ? answer(400, operation) : next();
    }
    const verdict = await admission.admit(operation, caller, true);
    if ('errors' in verdict) {
      const { status, headers, body } = refusedAnswer(verdict, errors, caller.traceId);
      return void response.status(status).set(headers).json(body);
    }
    if (verdict.rate !== undefined) response.set(rateHeaders(verdict.rate));
    if (verdict.operation.kind === 'mutation') noteRequest(response, { changes: verdict.operation.fields });
    if (verdict.operation.kind !== 'subscription') return next();
    if (!multipart.accepts(request)) return answer(406, needsStream());
    await multipart.stream(request, response, operation, verdict.operation);
  };
}
