import type { IncomingMessage, ServerResponse } from 'node:http';

import { type ExecutionResult, GraphQLError } from 'graphql';

import { noteRequest } from '../../platform/http/request-facts.ts';
import { endOfTurn } from '../../platform/process/end-of-turn.ts';
import { answerGraphql } from '../authentication/authenticate.ts';
import { overLimit } from '../authentication/count-requests.ts';
import { rateHeaders, type RateLimiter } from '../limits/rate-limit.ts';
import type { Compression } from '../request/compression.ts';
import { contextOf } from '../request/request-context.ts';
import { sendJson } from '../request/send-json.ts';
import type { TakenBody } from '../request/taken-body.ts';
import { retryAfterOf, unavailableOf } from '../request/unavailable.ts';
import { type OperationRequest, readOperation } from '../transports/admission/read-operation.ts';
import { needsStream, refusedAnswer, type TransportOptions } from '../transports/admission/transport.ts';

/** Runs one operation and answers as Apollo Server does. */
export type ServeOperation = (asked: AskedOperation) => Promise<void>;

interface AskedOperation {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly operation: OperationRequest;
  /** Content-Type of the answer. */
  readonly answerType: string;
}

export interface FastGraphqlOptions extends TransportOptions {
  readonly rateLimiter?: RateLimiter | undefined;
  readonly compression: Compression;
}

/** The operation of a body that asks for nothing else; null for any other, which Apollo Server explains. */
export function operationIn(body: TakenBody | null): OperationRequest | null {
  if (body === null || body === 'unreadable') return null;
  const operation = readOperation(body.value);
  if (operation instanceof GraphQLError) return null;
  const { extensions, operationName } = body.value as Readonly<Record<string, unknown>>;
  return extensions === undefined && operationName !== '' ? operation : null;
}

/** Makes the way of operations. */
export function createFastGraphql(options: FastGraphqlOptions): ServeOperation {
  const { admission, errors, federation, rateLimiter, compression } = options;
  return async (asked) => {
    const { request, response, operation } = asked;
    const context = contextOf(request);
    const { caller } = context;
    const refusal = await overLimit(caller, { rateLimiter, rateClass: 'read', response });
    if (refusal !== null) {
      compression.beforeHead(request, response);
      return answerGraphql(response, refusal);
    }
    const verdict = await admission.admit(operation, caller, true);
    if ('errors' in verdict) {
      const { status, headers, body } = refusedAnswer(verdict, errors, caller.traceId);
      compression.beforeHead(request, response);
      response.setHeaders(new Map(Object.entries(headers)));
      return sendJson(response, status, body);
    }
    if (verdict.rate !== undefined) response.setHeaders(new Map(Object.entries(rateHeaders(verdict.rate))));
    const { kind, fields } = verdict.operation;
    if (kind === 'mutation') noteRequest(response, { changes: fields });
    if (kind === 'subscription') {
      compression.beforeHead(request, response);
      return sendJson(response, 406, { errors: [errors.formatError(needsStream(), caller.traceId)] });
    }
    const result = await federation.execute({ ...operation, context });
    await sendResult(options, asked, { result, traceId: caller.traceId });
  };
}

async function sendResult(
  { errors, compression }: FastGraphqlOptions,
  { request, response, answerType }: AskedOperation,
  { result, traceId }: { readonly result: ExecutionResult; readonly traceId: string },
): Promise<void> {
  const shown = {
    errors: result.errors?.map((error) => errors.formatError(error, traceId)),
    data: result.data,
    extensions: result.extensions,
  };
  const away = unavailableOf(shown);
  const seconds = retryAfterOf(shown);
  if (seconds > 0) response.setHeader('Retry-After', String(seconds));
  const text = `${JSON.stringify(shown)}\n`;
  const bytes = Buffer.byteLength(text);
  response.setHeader('Content-Type', answerType);
  response.setHeader('Content-Length', bytes);
  response.statusCode = away?.status ?? statusOf(result);
  compression.afterHead(request, response, bytes);
  await endOfTurn();
  if (!response.destroyed) response.end(text);
}

/** As Apollo Server says: of an operation that could not be run 400, or what an error of a subgraph asks for. */
function statusOf({ errors, data }: ExecutionResult): number {
  if (errors === undefined || errors.length === 0) return 200;
  for (const { extensions } of errors.toReversed()) {
    const { status, headers } = Object(extensions['http']) as Readonly<Record<string, unknown>>;
    if (typeof status === 'number' && headers === undefined) return status;
  }
  return data === undefined ? 400 : 200;
}
