import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

import { toError } from '../../platform/errors.ts';
import type { RestHandler } from '../../rest-compat/router.ts';
import type { CallerFinder } from '../authentication/caller.ts';
import { hasCredential } from '../authentication/caller.ts';
import type { Compression } from '../request/compression.ts';
import type { Cors } from '../request/cors.ts';
import type { ObserveRequest } from '../request/observe-request.ts';
import { attachContext } from '../request/request-context.ts';
import { takeBody } from '../request/taken-body.ts';
import { operationIn, type ServeOperation } from './hot-graphql.ts';
import { graphqlAnswerType, isRest } from './plain-requests.ts';

/**
 * The short way of the most frequent requests, plain GraphQL by POST and the REST paths: the same steps as on the whole
 * way, in the same order, but without Express and Apollo Server. What is not understood whole, from its head or its
 * body, goes the whole way, before anything was counted or answered. Both ways answer byte for byte the same.
 */
export interface HotDoorOptions {
  /** Serves what is not plain. */
  readonly whole: RequestListener;
  readonly basePath: string;
  readonly isHttps: boolean;
  readonly callers: CallerFinder;
  /** Requests to GraphQL without a credential are refused, where no subgraph does. */
  readonly requiresCredential: boolean;
  readonly observe: ObserveRequest;
  readonly cors: Pick<Cors, 'mark'>;
  readonly serveOperation: ServeOperation;
  /** Compresses what is sent to callers who accept that. */
  readonly compression: Compression;
  readonly rest?: RestHandler | undefined;
  /** Folders whose requests `rest` serves. */
  readonly restFolders: readonly string[];
  /** Responds to what a handler threw. */
  readonly failed: (thrown: unknown, request: IncomingMessage, response: ServerResponse) => void;
}

/** Makes the listener of the server. */
export function createHotDoor(options: HotDoorOptions): RequestListener {
  const { whole, basePath, rest } = options;
  const graphqlPath = `${basePath}/graphql`;
  const restPrefixes = options.restFolders.map((folder) => `${basePath}${folder}/`);
  return (request, response) => {
    const answerType = graphqlAnswerType(request, graphqlPath);
    const work =
      answerType !== undefined
        ? serveGraphql(options, { request, response, answerType })
        : rest !== undefined && isRest(request, restPrefixes)
          ? serveRest({ ...options, rest }, request, response)
          : null;
    if (work === null) return whole(request, response);
    work.catch((thrown: unknown) => {
      if (response.headersSent) response.destroy(toError(thrown));
      else options.failed(thrown, request, response);
    });
  };
}

/** The caller; null where the whole way must tell what is wrong with the credential. */
async function findCaller({ callers }: HotDoorOptions, request: IncomingMessage, strict: boolean) {
  try {
    return await callers.find(request, { strict });
  } catch {
    return null;
  }
}

async function serveGraphql(
  options: HotDoorOptions,
  {
    request,
    response,
    answerType,
  }: {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
    readonly answerType: string;
  },
): Promise<void> {
  const { whole, requiresCredential, serveOperation } = options;
  const startedAt = performance.now();
  const caller = await findCaller(options, request, true);
  if (caller === null || (requiresCredential && !hasCredential(caller))) return whole(request, response);
  const operation = operationIn(await takeBody(request));
  if (operation === null) return whole(request, response);
  attachContext(request, response, caller);
  await observed(options, { request, response, startedAt }, () =>
    serveOperation({ request, response, operation, answerType }),
  );
}

async function serveRest(
  options: HotDoorOptions & { readonly rest: RestHandler },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { whole, basePath, rest } = options;
  const startedAt = performance.now();
  const caller = await findCaller(options, request, false);
  if (caller === null) return whole(request, response);
  const { url = '/' } = request;
  request.url = url.slice(basePath.length);
  const serve = rest.find(request);
  request.url = url;
  if (serve === null) return whole(request, response);
  attachContext(request, response, caller);
  await observed(options, { request, response, startedAt }, () => {
    // Express does so, too: routes know nothing of the prefix.
    request.url = url.slice(basePath.length);
    options.compression.beforeHead(request, response);
    return serve(response);
  });
}

/** Runs what comes after the caller is known, with the headers that every response has. */
function observed(
  { observe, isHttps, cors }: HotDoorOptions,
  {
    request,
    response,
    startedAt,
  }: {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
    readonly startedAt: number;
  },
  serve: () => Promise<void>,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const run = (): void => {
    if (isHttps) response.setHeader('Strict-Transport-Security', 'max-age=31536000');
    cors.mark(request, response);
    serve().then(resolve, reject);
  };
  observe(request, response, run, startedAt);
  return promise;
}
