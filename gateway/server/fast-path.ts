import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

import { GraphQLError } from 'graphql';

import { toError } from '../../platform/errors.ts';
import type { RestHandler } from '../../rest-compat/router.ts';
import { takeBody, findTakenBody, type TakenBody } from '../request/body.ts';
import type { Compression } from '../request/compression.ts';
import type { Exchange, Step } from '../request/steps.ts';
import { type OperationRequest, readOperation } from '../transports/admission/read-operation.ts';
import { chooseAnswerType, type HttpOperations, isOnlyOperation } from '../transports/http-operations.ts';

/**
 * The path of the most frequent requests, plain GraphQL by POST and the REST paths, without Express and Apollo Server. It goes
 * through the same steps as the Express pipeline; what is not understood completely, from its head or its body, is handed
 * over to that, before anything was answered.
 */
export interface FastPathOptions {
  /** Serves what is not plain. */
  readonly express: RequestListener;
  readonly basePath: string;
  /** What every request of callers goes through first. */
  readonly enter: Step;
  readonly operations: HttpOperations;
  readonly compression: Compression;
  /** Larger GraphQL bodies are not read before their request is counted. */
  readonly maxBodyBytes: number;
  readonly rest?: RestHandler | undefined;
  /** Folders whose requests `rest` serves. */
  readonly restFolders: readonly string[];
  /** Responds to what a handler threw. */
  readonly failed: (thrown: unknown, request: IncomingMessage, response: ServerResponse) => void;
}

/** Makes the listener of the server. */
export function createFastPath(options: FastPathOptions): RequestListener {
  const { express, basePath, rest } = options;
  const restPrefixes = options.restFolders.map((folder) => `${basePath}${folder}/`);
  return (request, response) => {
    const work = isPlainGraphql(request, options)
      ? serveGraphql(options, request, response)
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

async function serveGraphql(
  { express, enter, operations }: FastPathOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const exchange: Exchange = { request, response, path: '/graphql' };
  const answerType = chooseAnswerType(request);
  if (!(await enter(exchange)) || !(await operations.count(exchange))) return;
  const operation = operationIn(findTakenBody(request) ?? (await takeBody(request)));
  if (operation === null || answerType === undefined) return express(request, response);
  await operations.serve(exchange, operation, { answerType });
}

/** The operation of a body that asks for nothing else; null for any other. */
function operationIn(body: TakenBody | null): OperationRequest | null {
  if (body === null || body === 'unreadable') return null;
  const operation = readOperation(body.value);
  if (operation instanceof GraphQLError) return null;
  return isOnlyOperation(Object(body.value)) ? operation : null;
}

async function serveRest(
  { express, basePath, enter, compression, rest }: FastPathOptions & { readonly rest: RestHandler },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { url = '/' } = request;
  const own = url.slice(basePath.length);
  const exchange: Exchange = { request, response, path: own.split('?', 1)[0] ?? own };
  if (!(await enter(exchange))) return;
  // Routes know nothing of the prefix.
  request.url = own;
  const serve = rest.find(request);
  if (serve === null) {
    request.url = url;
    return express(request, response);
  }
  compression.beforeHead(exchange);
  await serve(response);
}

/** Which requests are understood from their head alone. Pure. */

const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;

/** Whether this is a GraphQL request by POST with a body that is small and plain. */
function isPlainGraphql(
  request: IncomingMessage,
  { basePath, maxBodyBytes }: Pick<FastPathOptions, 'basePath' | 'maxBodyBytes'>,
): boolean {
  const { url, headers } = request;
  if (url !== `${basePath}/graphql` || chooseAnswerType(request) === undefined) return false;
  if (!JSON_TYPE.test(headers['content-type'] ?? '') || isUncommon(headers)) return false;
  const length = Number(headers['content-length']);
  return length > 0 && length <= maxBodyBytes;
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
