import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { type ExecutionResult, getOperationAST, OperationTypeNode } from 'graphql';
import { z } from 'zod';

import { databaseAway } from '../../database-away.ts';
import { AppError, type AppErrorCode } from '../../errors.ts';
import { disconnectSignal, readRequestBody } from '../../http/server.ts';
import type { Logger } from '../../process/logger.ts';
import {
  type AssertedCaller,
  bytesHash,
  CALLER_HEADER,
  operationHash,
  requireBody,
} from '../assertions/caller-assertion.ts';
import { codedError, failedResult } from '../operations/errors.ts';
import { MAX_NESTING, nestsDeeperThan } from '../operations/inspect-document.ts';
import { extractUploads } from '../uploads/upload-forwarding.ts';
import type { SubgraphEntryPoint } from './entry-point.ts';

/** GraphQL over HTTP for one subgraph: one operation per POST, JSON in the response. */

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const requestShape = z.object({
  query: z.string(),
  operationName: z.string().nullish(),
  // As they are: a copy would lose a variable that is named `__proto__`.
  variables: z.custom<Readonly<Record<string, unknown>>>(isObject).nullish(),
});

/** Largest body of a request that is not GraphQL. */
const MAX_PLAIN_BYTES = 1024 * 1024;

/** Refuses every request without an assertion for it, before its body is read; the handlers then compare the body. */
export function createAssertionGuard({ verify }: SubgraphEntryPoint): RequestHandler {
  return async (request, response, next) => {
    const target = { method: request.method, path: request.originalUrl };
    response.locals['asserted'] = await verify(request.headers[CALLER_HEADER], target);
    next();
  };
}

/** Reads the body of a POST that is not GraphQL into `request.body` (a Buffer), and compares it with the assertion. */
export function createBodyGuard(): RequestHandler {
  return async (request, response, next) => {
    const isPost = request.method === 'POST';
    const body = isPost ? await readRequestBody(request, MAX_PLAIN_BYTES) : null;
    if (isPost && body === null) throw new AppError('PAYLOAD_TOO_LARGE', `at most ${MAX_PLAIN_BYTES} bytes`);
    requireBody(readAsserted(response), body && bytesHash(body));
    request.body = body;
    next();
  };
}

function readAsserted({ locals }: Response): AssertedCaller {
  return locals['asserted'] as AssertedCaller;
}

/** The handler of POST /graphql, behind the guard and the JSON and upload middlewares. */
export function createGraphqlHandler(entryPoint: SubgraphEntryPoint): RequestHandler {
  return async (request, response) => {
    const { status, result } = await answer(request, response, entryPoint);
    if (response.destroyed) return;
    respond(response, status, result);
  };
}

async function answer(request: Request, response: Response, entryPoint: SubgraphEntryPoint): Promise<Answer> {
  const parsed = requestShape.safeParse(request.body);
  if (!parsed.success) return refusal(400, 'send one JSON object with query, operationName and variables');
  const { query, operationName, variables } = parsed.data;
  if (nestsDeeperThan(variables, MAX_NESTING))
    return refusal(400, `variables nest deeper than ${MAX_NESTING}`);
  const asserted = readAsserted(response);
  const { caller } = asserted;
  try {
    const sent = extractUploads(variables ?? {}).variables;
    requireBody(asserted, operationHash({ query, operationName, variables: sent }));
    const { document, errors } = entryPoint.prepare(query);
    if (errors !== undefined) return { status: 400, result: { errors } };
    if (getOperationAST(document, operationName)?.operation === OperationTypeNode.SUBSCRIPTION) {
      return refusal(400, 'subscribe over graphql-ws at this URL');
    }
    const result = await entryPoint.link.execute({
      query,
      document,
      operationName: operationName ?? undefined,
      variables: variables ?? {},
      context: { caller, signal: disconnectSignal(response) },
    });
    return { status: 200, result };
  } catch (thrown) {
    const { logger, name: subgraph } = entryPoint;
    const result = failedResult(thrown, { logger, traceId: caller.traceId, subgraph });
    return { status: chooseStatus(thrown), result };
  }
}

interface Answer {
  readonly status: number;
  readonly result: ExecutionResult;
}

function refusal(status: number, message: string, code: AppErrorCode = 'BAD_USER_INPUT'): Answer {
  return { status, result: { errors: [codedError(code, message)] } };
}

const STATUSES: Readonly<Partial<Record<AppErrorCode, number>>> = {
  UNAUTHENTICATED: 401,
  PAYLOAD_TOO_LARGE: 413,
  UNAVAILABLE: 503,
  INTERNAL: 500,
};

function chooseStatus(thrown: unknown): number {
  if (!(thrown instanceof AppError)) return 500;
  return STATUSES[thrown.code] ?? 400;
}

/** Responds to errors of middlewares: no assertion, a body that is too large or not JSON; anything else is masked. */
export function createErrorHandler(logger: Logger): ErrorRequestHandler {
  return (thrown: unknown, request, response, _next) => {
    const error = databaseAway(thrown) ?? thrown;
    if (error instanceof AppError && !response.headersSent) {
      const { status, result } = refusal(chooseStatus(error), error.message, error.code);
      // The body may be unread, so the connection ends with the answer.
      response.setHeader('connection', 'close');
      return respond(response, status, result);
    }
    const status = clientStatus(error);
    if (status === undefined) logger.error({ error, path: request.path }, 'a request failed');
    const code = status === 413 ? 'PAYLOAD_TOO_LARGE' : status === undefined ? 'INTERNAL' : 'BAD_USER_INPUT';
    const message = status === undefined ? 'internal error' : (error as Error).message;
    if (response.headersSent) response.destroy();
    else respond(response, status ?? 500, { errors: [codedError(code, message)] });
  };
}

// body-parser's errors have a status, and `expose` when their message is meant for clients.
function clientStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('status' in error) || !('expose' in error)) return undefined;
  return error.expose === true && typeof error.status === 'number' ? error.status : undefined;
}

function respond(response: Response, status: number, result: ExecutionResult): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  });
  response.end(JSON.stringify(result));
}
