import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

import { toError } from '../../platform/errors.ts';
import type { RestHandler } from '../../rest-compat/router.ts';
import { type CallerFinder, hasCredential } from '../authentication/caller.ts';
import type { Compression } from '../request/compression.ts';
import type { Cors } from '../request/cors.ts';
import type { ObserveRequest } from '../request/observe-request.ts';
import { attachContext } from '../request/request-context.ts';
import { takeBody } from '../request/taken-body.ts';
import { operationIn, type ServeOperation } from './fast-graphql.ts';

/**
 * The path of the most frequent requests, plain GraphQL by POST and the REST paths: the same steps as in the Express
 * pipeline, in the same order, but without Express and Apollo Server. What is not understood completely, from its head or its
 * body, goes through the Express pipeline, before anything was counted or answered. Both ways answer byte for byte the same.
 */
export interface FastPathOptions {
  /** Serves what is not plain. */
  readonly express: RequestListener;
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
export function createFastPath(options: FastPathOptions): RequestListener {
  const { express, basePath, rest } = options;
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
    if (work === null) return express(request, response);
    work.catch((thrown: unknown) => {
      if (response.headersSent) response.destroy(toError(thrown));
      else options.failed(thrown, request, response);
    });
  };
}

/** The caller; null where the Express pipeline must tell what is wrong with the credential. */
async function findCaller({ callers }: FastPathOptions, request: IncomingMessage, strict: boolean) {
  try {
    return await callers.find(request, { strict });
  } catch {
    return null;
  }
}

async function serveGraphql(
  options: FastPathOptions,
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
  const { express, requiresCredential, serveOperation } = options;
  const startedAt = performance.now();
  const caller = await findCaller(options, request, true);
  if (caller === null || (requiresCredential && !hasCredential(caller))) return express(request, response);
  const operation = operationIn(await takeBody(request));
  if (operation === null) return express(request, response);
  attachContext(request, response, caller);
  await observed(options, { request, response, startedAt }, () =>
    serveOperation({ request, response, operation, answerType }),
  );
}

async function serveRest(
  options: FastPathOptions & { readonly rest: RestHandler },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { express, basePath, rest } = options;
  const startedAt = performance.now();
  const caller = await findCaller(options, request, false);
  if (caller === null) return express(request, response);
  const { url = '/' } = request;
  request.url = url.slice(basePath.length);
  const serve = rest.find(request);
  request.url = url;
  if (serve === null) return express(request, response);
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
  { observe, isHttps, cors }: FastPathOptions,
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

/** Which requests are understood from their head alone. Pure. */

/** Larger bodies are not read before their request is counted. */
const MAX_BODY_BYTES = 64 * 1024;

const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;

const JSON_ANSWER = 'application/json; charset=utf-8';
const GRAPHQL_ANSWER = 'application/graphql-response+json; charset=utf-8';

/** What common clients accept, and the type of answer they get. */
const ANSWER_TYPES: ReadonlyMap<string | undefined, string> = new Map([
  [undefined, JSON_ANSWER],
  ['*/*', JSON_ANSWER],
  ['application/json', JSON_ANSWER],
  ['application/json, text/plain, */*', JSON_ANSWER],
  ['application/graphql-response+json, application/json', GRAPHQL_ANSWER],
  ['application/graphql-response+json,application/json;q=0.9', GRAPHQL_ANSWER],
  ['application/graphql-response+json, application/json;q=0.9', GRAPHQL_ANSWER],
]);

/** The type of the answer to a plain GraphQL request by POST; undefined for any other request. */
function graphqlAnswerType({ method, url, headers }: IncomingMessage, path: string): string | undefined {
  if (method !== 'POST' || url !== path) return undefined;
  if (!JSON_TYPE.test(headers['content-type'] ?? '') || isUncommon(headers)) return undefined;
  const length = Number(headers['content-length']);
  return length > 0 && length <= MAX_BODY_BYTES ? ANSWER_TYPES.get(headers.accept) : undefined;
}

/** Whether a request is one of the documented paths, of whatever body: their routes read it. */
function isRest({ method, url = '/', headers }: IncomingMessage, prefixes: readonly string[]): boolean {
  return (
    method !== 'OPTIONS' && prefixes.some((prefix) => url.startsWith(prefix)) && !isUncommon(headers, false)
  );
}

/** Ways of sending that only the Express pipeline knows. */
function isUncommon(headers: IncomingMessage['headers'], hasPlainBody = true): boolean {
  if (headers.expect !== undefined || headers.upgrade !== undefined) return true;
  return hasPlainBody && (headers['content-encoding'] ?? headers['transfer-encoding']) !== undefined;
}
