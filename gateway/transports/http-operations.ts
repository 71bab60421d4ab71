import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ExecutionResult } from 'graphql';

import { answerBytes } from '../../platform/graphql/operations/answers.ts';
import { DEFERS } from '../../platform/graphql/operations/inspect-document.ts';
import { noteRequest } from '../../platform/http/server.ts';
import { endOfTurn } from '../../platform/process/end-of-turn.ts';
import { answerGraphql, overLimit } from '../authentication/authenticate.ts';
import { rateHeaders, type RateLimiter } from '../limits/rate-limit.ts';
import type { Compression } from '../request/compression.ts';
import { findRetryAfter, findUnavailable, forbidStoring } from '../request/errors.ts';
import { requireContext } from '../request/request-context.ts';
import { sendJson, type Exchange, inOrder } from '../request/steps.ts';
import type { Admitted } from './admission/admission.ts';
import type { OperationRequest } from './admission/read-operation.ts';
import { needsStream, refusedAnswer, type TransportOptions } from './admission/transport.ts';
import { acceptsParts, type ReserveParts } from './streams/incremental.ts';
import type { MultipartTransport } from './streams/multipart.ts';

/** Operations of single HTTP requests: the fast path and the Express pipeline serve them by the same steps. */
export type HttpOperations = ReturnType<typeof createHttpOperations>;

/** How an admitted query or mutation is run: here, with the Content-Type of the answer, or elsewhere. */
type RunOperation = { readonly answerType: string } | 'elsewhere';

/** What operations are served with. */
export interface HttpOperationOptions extends TransportOptions {
  /** Absent when rates are not limited. */
  readonly rateLimiter?: RateLimiter | undefined;
  readonly compression: Compression;
  /** Serves subscriptions to clients that accept multipart. */
  readonly multipart: MultipartTransport;
  /** Takes streams for answers in parts. */
  readonly reserveParts: ReserveParts;
}

/** Makes the steps of operations. */
export function createHttpOperations(options: HttpOperationOptions) {
  const { admission, errors, federation, rateLimiter, compression } = options;
  return {
    /** Counts a request as a read, before its body is known: what can't be read is a request too. */
    count: inOrder(async (exchange) => {
      const { request, response } = exchange;
      const { caller } = requireContext(request);
      const refusal = await overLimit(caller, { rateLimiter, rateClass: 'read', response });
      if (refusal === null) return true;
      compression.beforeHead(exchange);
      answerGraphql(response, refusal);
      return false;
    }),
    /** Admits an operation and responds to it; false when it was admitted and `run` has to respond. */
    async serve(exchange: Exchange, operation: OperationRequest, run: RunOperation): Promise<boolean> {
      const { request, response } = exchange;
      const context = requireContext(request);
      const { caller } = context;
      const verdict = await admission.admit(operation, caller, true);
      if ('errors' in verdict) {
        const { status, headers, body } = refusedAnswer(verdict, errors, caller.traceId);
        compression.beforeHead(exchange);
        response.setHeaders(new Map(Object.entries(headers)));
        sendJson(response, status, body);
        return true;
      }
      if (verdict.rate !== undefined) response.setHeaders(new Map(Object.entries(rateHeaders(verdict.rate))));
      const { kind, fields } = verdict.operation;
      if (kind === 'mutation') noteRequest(response, { changes: fields });
      if (kind === 'subscription') {
        await subscribe(options, exchange, { operation, admitted: verdict.operation });
        return true;
      }
      if (acceptsParts(request)) {
        await answerInParts(options, exchange, operation);
        return true;
      }
      if (run === 'elsewhere') return false;
      const result = await federation.execute({ ...operation, context });
      await sendResult(options, exchange, { ...run, result });
      return true;
    },
  };
}

/** Streams a subscription to a client that accepts that. */
async function subscribe(
  { errors, multipart, compression }: HttpOperationOptions,
  exchange: Exchange,
  { operation, admitted }: { readonly operation: OperationRequest; readonly admitted: Admitted['operation'] },
): Promise<void> {
  const { request, response } = exchange;
  compression.beforeHead(exchange);
  if (multipart.accepts(request)) return multipart.stream(request, response, operation, admitted);
  const { traceId } = requireContext(request).caller;
  sendJson(response, 406, { errors: [errors.formatError(needsStream(), traceId)] });
}

/** Answers in parts where something is deferred and a stream is left for them, else at once. */
async function answerInParts(
  options: HttpOperationOptions,
  exchange: Exchange,
  operation: OperationRequest,
): Promise<void> {
  const { request, response } = exchange;
  const { compression, federation, reserveParts } = options;
  const asked = { ...operation, context: requireContext(request) };
  // Reserved before anything runs: after a refusal the client would repeat what has already run.
  const sendParts = DEFERS.test(operation.query) ? reserveParts(request, response) : null;
  const result = await (sendParts === null ? federation.execute(asked) : federation.executeInParts(asked));
  if ('next' in result) {
    compression.beforeHead(exchange);
    return sendParts?.(result);
  }
  const accepted = request.headers.accept ?? '';
  const answerType = accepted.includes('application/graphql-response+json') ? GRAPHQL_ANSWER : JSON_ANSWER;
  await sendResult(options, exchange, { result, answerType });
}

async function sendResult(
  { errors, compression }: HttpOperationOptions,
  { request, response }: Pick<Exchange, 'request' | 'response'>,
  { result, answerType }: { readonly result: ExecutionResult; readonly answerType: string },
): Promise<void> {
  const answered = answerBytes(result);
  if (answered !== undefined) {
    const bytes = answered.length + 1;
    response.setHeader('Content-Type', answerType);
    response.setHeader('Content-Length', bytes);
    compression.afterHead(request, response, bytes);
    // A letter for each byte: nothing is counted or encoded anew.
    await sendLine(response, answered.toString('latin1'), 'latin1');
    return;
  }
  const { traceId } = requireContext(request).caller;
  const shown = {
    errors: result.errors?.map((error) => errors.formatError(error, traceId)),
    data: result.data,
    extensions: result.extensions,
  };
  if (result.errors?.length) forbidStoring(response);
  const unavailable = findUnavailable(shown);
  const seconds = findRetryAfter(shown);
  if (seconds > 0) response.setHeader('Retry-After', String(seconds));
  const text = JSON.stringify(shown);
  const bytes = Buffer.byteLength(text) + 1;
  response.setHeader('Content-Type', answerType);
  response.setHeader('Content-Length', bytes);
  response.statusCode = unavailable?.status ?? toHttpStatus(result);
  compression.afterHead(request, response, bytes);
  // As many bytes as letters: all are of ASCII, which is written without being encoded.
  await sendLine(response, text, bytes === text.length + 1 ? 'latin1' : 'utf8');
}

/** Letters from which joining a text with its head and its line break, which copies it twice, costs more than writing three parts. */
const LONG = 16_384;

/** Sends a text and a line break as the answer, with the head in one write. */
async function sendLine(response: ServerResponse, text: string, encoding: 'latin1' | 'utf8'): Promise<void> {
  await endOfTurn();
  if (response.destroyed) return;
  if (text.length < LONG) {
    response.end(`${text}\n`, encoding);
    return;
  }
  // Of the socket, not of the response: where that is compressed, its end comes later.
  const { socket } = response;
  socket?.cork();
  response.flushHeaders();
  response.write(text, encoding);
  response.end('\n');
  socket?.uncork();
}

/** As Apollo Server says: of an operation that could not be run 400, or what an error of a subgraph asks for. */
function toHttpStatus({ errors, data }: ExecutionResult): number {
  if (errors === undefined || errors.length === 0) return 200;
  for (const { extensions } of errors.toReversed()) {
    const { status, headers } = Object(extensions['http']) as Readonly<Record<string, unknown>>;
    if (typeof status === 'number' && headers === undefined) return status;
  }
  return data === undefined ? 400 : 200;
}

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

/** The type of the answer to a request by POST, where what it accepts is understood; undefined for any other request. */
export function chooseAnswerType({ method, headers }: IncomingMessage): string | undefined {
  return method === 'POST' ? ANSWER_TYPES.get(headers.accept) : undefined;
}

/** Whether a body asks for nothing but its operation; Apollo Server explains what else it may hold. */
export function isOnlyOperation(body: object): boolean {
  const { extensions, operationName } = body as Readonly<Record<string, unknown>>;
  return extensions === undefined && operationName !== '';
}
