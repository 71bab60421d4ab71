import { type ErrorRequestHandler, json, type Request, type RequestHandler, Router } from 'express';
import { GraphQLError } from 'graphql';

import { codedError } from '../../platform/graphql/operations/errors.ts';
import { createUploadMiddleware } from '../../platform/graphql/uploads/uploads.ts';
import { once } from '../../platform/once.ts';
import { refuseUnread, whenTooLarge, findTakenBody } from '../request/body.ts';
import type { Cors } from '../request/cors.ts';
import type { ErrorFormatter } from '../request/errors.ts';
import { requireContext } from '../request/request-context.ts';
import { readOperation, readUrlOperation } from './admission/read-operation.ts';
import type { TransportOptions } from './admission/transport.ts';
import type { ApolloHandler } from './apollo-server.ts';
import { chooseAnswerType, type HttpOperations, isOnlyOperation } from './http-operations.ts';
import { createLandingPage } from './landing-page.ts';
import { answerBatches, expandPersisted } from './request-forms.ts';
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
  readonly operations: HttpOperations;
  /** Has every query and mutation run by Apollo Server, not only what is rare. */
  readonly apolloOnly: boolean;
  /** Largest JSON body in bytes. */
  readonly maxBodyBytes: number;
  /** Most operations in one body (default 1: a list is refused). */
  readonly maxBatch?: number | undefined;
  /** Largest JSON body of callers without a credential in bytes. */
  readonly anonymousBodyBytes: number;
  /** Largest uploaded file in bytes. */
  readonly uploadMaxBytes: number;
}

/** Makes the router of /graphql over HTTP, in reading order. WebSockets come by upgrade (websocket.ts). */
export function createGraphqlRouter(options: GraphqlRouterOptions) {
  const { basePath, production, uploadMaxBytes, errors, operations } = options;
  // Loaded when an operation first comes that is left to it.
  const apollo = once(() => startApollo(options));
  const router = Router();
  router.use(createLandingPage({ basePath, embedSandbox: !production, hasSandbox: options.hasSandbox }));
  router.use(countOperations(operations));
  router.use(
    byCredential((maxBytes) => {
      const upload = createUploadMiddleware({ maxFileSize: uploadMaxBytes, maxFieldBytes: maxBytes });
      return [upload, readJson(maxBytes, errors)];
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
  router.use(serveOperations(options));
  router.use(answerByApollo(apollo));
  router.use(answerErrors(errors));
  return { router, close: async () => (await apollo.kept())?.stop() };
}

/** Handlers of bodies that are bounded by whether their caller has a credential. */
function byCredential(
  make: (maxBytes: number) => RequestHandler[],
  { maxBodyBytes, anonymousBodyBytes }: GraphqlRouterOptions,
): RequestHandler {
  const known = Router().use(...make(maxBodyBytes));
  const anonymous = Router().use(...make(anonymousBodyBytes));
  return (request, response, next) =>
    (requireContext(request).caller.kind === 'anonymous' ? anonymous : known)(request, response, next);
}

const JSON_TYPES = ['application/json', 'application/*+json'];

/** Reads JSON bodies; some have been read before. The parser itself would read all of one that is too large. */
function readJson(maxBytes: number, errors: ErrorFormatter): RequestHandler {
  const parser = json({ limit: maxBytes, type: JSON_TYPES });
  return (request, response, next) => {
    const taken = findTakenBody(request);
    const refuse = () => refuseUnread(request, response, { errors: [tooLarge(request, errors)] });
    if (taken === undefined) {
      if (!request.is(JSON_TYPES)) return next();
      return whenTooLarge(request, maxBytes, refuse) ? undefined : parser(request, response, next);
    }
    // Whoever took it had a bound of its own.
    if (Number(request.headers['content-length']) > maxBytes) return refuse();
    if (taken === 'unreadable') return next({ status: 400, type: 'entity.parse.failed' });
    request.body = taken.value;
    next();
  };
}

/** Responds to unreadable bodies and unexpected errors as GraphQL clients expect. */
function answerErrors(errors: ErrorFormatter): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    const status = bodyErrorStatus(error);
    const { traceId } = requireContext(request).caller;
    const unreadable = codedError('BAD_REQUEST', 'the request body is not readable JSON');
    const shown =
      status === 413
        ? tooLarge(request, errors)
        : errors.formatError(status === undefined ? error : unreadable, traceId);
    response.status(status ?? 500).json({ errors: [shown] });
  };
}

function tooLarge(request: Request, errors: ErrorFormatter) {
  const { traceId, kind } = requireContext(request).caller;
  const who = kind === 'anonymous' ? ' of a caller without a credential' : '';
  return errors.formatError(codedError('PAYLOAD_TOO_LARGE', `the request body${who} is too large`), traceId);
}

/** The status of a failed body parser: 413 or another 4xx; undefined for any other error. */
function bodyErrorStatus(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('status' in error) || !('type' in error))
    return undefined;
  const { status } = error;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
}

function countOperations({ count }: HttpOperations): RequestHandler {
  return async (request, response, next) => {
    if (await count({ request, response, path: '/graphql' })) next();
  };
}

function answerByApollo(apollo: () => Promise<ApolloHandler>): RequestHandler {
  return async (request, response, next) => {
    const { handle } = await apollo();
    handle(request, response, next);
  };
}

async function startApollo(options: GraphqlRouterOptions): Promise<ApolloHandler> {
  const { startApolloServer } = await import('./apollo-server.ts');
  return startApolloServer(options);
}

/**
 * Admits operations, and runs those of a usual form. What is left goes on to Apollo Server, which knows the words that clients
 * expect: requests without an operation, by GET, with extensions, and with an Accept or a type that is not understood.
 */
function serveOperations({ operations, errors, apolloOnly }: GraphqlRouterOptions): RequestHandler {
  return async (request, response, next) => {
    const body: unknown = request.body;
    const operation = request.method === 'GET' ? readUrlOperation(request.originalUrl) : readOperation(body);
    if (operation instanceof GraphQLError) {
      if (operation.extensions['code'] !== 'QUERY_REFUSED') return next();
      const { traceId } = requireContext(request).caller;
      return void response.status(400).json({ errors: [errors.formatError(operation, traceId)] });
    }
    const answerType = apolloOnly || !isOnlyOperation(Object(body)) ? undefined : chooseAnswerType(request);
    const run = answerType === undefined ? 'elsewhere' : { answerType };
    if (!(await operations.serve({ request, response, path: '/graphql' }, operation, run))) next();
  };
}
