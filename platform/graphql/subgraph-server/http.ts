import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { type ExecutionResult, getOperationAST, OperationTypeNode } from 'graphql';
import { z } from 'zod';

import { AppError } from '../../errors.ts';
import { disconnectSignal } from '../../http/server.ts';
import { newTraceId } from '../../ids.ts';
import type { Logger } from '../../process/logger.ts';
import { codedError, failedResult } from '../operations/errors.ts';
import { MAX_NESTING, nestsDeeperThan } from '../operations/nesting.ts';
import { httpCredentials, type SubgraphEntryPoint } from './entry-point.ts';

/** GraphQL over HTTP for one subgraph: one operation per POST, JSON in the response. */

const requestShape = z.object({
  query: z.string(),
  operationName: z.string().nullish(),
  variables: z.record(z.string(), z.unknown()).nullish(),
});

/** The handler of POST /graphql, behind the JSON and upload middlewares. */
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
  let traceId = newTraceId();
  try {
    const { caller, isAsserted } = await entryPoint.identify(httpCredentials(request));
    traceId = caller.traceId;
    const { document, errors } = entryPoint.prepare(query, isAsserted);
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
    const result = failedResult(thrown, { logger: entryPoint.logger, traceId, subgraph: entryPoint.name });
    return { status: statusOf(thrown), result };
  }
}

interface Answer {
  readonly status: number;
  readonly result: ExecutionResult;
}

function refusal(status: number, message: string): Answer {
  return { status, result: { errors: [codedError('BAD_USER_INPUT', message)] } };
}

function statusOf(thrown: unknown): number {
  if (!(thrown instanceof AppError)) return 500;
  return thrown.code === 'UNAUTHENTICATED' ? 401 : thrown.code === 'UNAVAILABLE' ? 503 : 400;
}

/** Responds to errors of middlewares: a body that is too large or not JSON; anything else is masked. */
export function createErrorHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
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
