import type { Request, RequestHandler, Response } from 'express';
import { type FormattedExecutionResult, GraphQLError } from 'graphql';

import { codedError } from '../../../platform/graphql/operations/errors.ts';
import type {
  RequestContext,
  ResponseStream,
  StreamFormat,
  StreamPermit,
} from '../../../platform/graphql/operations/executor.ts';
import { isStream } from '../../../platform/graphql/operations/streams.ts';
import { noteRequest } from '../../../platform/http/server.ts';
import { rateHeaders } from '../../limits/rate-limit.ts';
import type { Cors } from '../../request/cors.ts';
import { requireContext } from '../../request/request-context.ts';
import type { Admitted } from '../admission/admission.ts';
import { type OperationRequest, readOperation, readUrlOperation } from '../admission/read-operation.ts';
import {
  answerTooManyStreams,
  CREDENTIAL_ENDED,
  refusedAnswer,
  type TransportOptions,
} from '../admission/transport.ts';
import { follow, isBreak } from './keep-following.ts';
import { pumpResults, type ResponseStreams } from './response-stream.ts';
import { type EventId, parseEventId, takeEventId } from './resume.ts';

/**
 * GraphQL over Server-Sent Events on /graphql, by `Accept: text/event-stream`: the "distinct connections" mode of the
 * graphql-sse protocol (events `next` and `complete`), for GET and POST. Our own handler, because the library writes no
 * event ids and buffers without bound. Ids are the events' `seq` or `cursor` (resume.ts), so that an EventSource resumes by itself;
 * the end has an id of its own, at which a reconnecting EventSource is stopped (204). A source that is unavailable for
 * now is not the end: the connection closes without `complete`, so that clients reconnect and resume.
 */

const END_ID = 'complete';

const FORMAT: StreamFormat = {
  headers: {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  },
  // A comment opens the stream in browsers that wait for bytes; `retry` is the pause before reconnecting.
  opening: ': kiln\nretry: 1000\n\n',
  heartbeat: ':\n\n',
  // Without `complete`, so that clients reconnect and resume.
  shutdown: () => `: the server is stopping\nretry: ${1_000 + Math.round(Math.random() * 4_000)}\n\n`,
  credentialEnd: printEvent('next', { errors: [CREDENTIAL_ENDED] }) + printEnd(),
};

/** Options of the SSE transport. */
export interface SseOptions extends TransportOptions {
  readonly streams: ResponseStreams;
  readonly cors: Pick<Cors, 'allows'>;
}

/** Handles requests that accept event streams; passes all others on. JSON bodies must have been read before. */
export function createSseTransport(options: SseOptions): RequestHandler {
  const { admission, errors, streams, federation, cors } = options;
  return async (request, response, next) => {
    if (!acceptsEventStream(request)) return next();
    const context = requireContext(request);
    const { caller } = context;
    const { traceId } = caller;
    const refuse = (status: number, error: GraphQLError): void =>
      void response.status(status).json({ errors: [errors.formatError(error, traceId)] });
    // Browsers open an EventSource to any site without a preflight, and a subscription may start paid work.
    if (request.method === 'GET' && !cors.allows(request)) {
      return refuse(403, codedError('FORBIDDEN', 'this origin may not open streams'));
    }
    if (request.headers['last-event-id'] === END_ID) return void response.status(204).end();
    const operation =
      request.method === 'GET' ? readUrlOperation(request.originalUrl) : readOperation(request.body);
    if (operation instanceof GraphQLError) return refuse(400, operation);
    const permit = streams.reserve(response, { request, caller });
    if (permit === null) return answerTooManyStreams(response);
    const verdict = await admission.admit(operation, caller, true);
    if ('errors' in verdict) {
      const { status, headers, body } = refusedAnswer(verdict, errors, traceId);
      if (status === 429) return void response.status(status).set(headers).json(body);
      return sendOnly(permit.open(FORMAT), body);
    }
    const kind = verdict.operation.kind;
    if (request.method === 'GET' && kind !== 'subscription') {
      const message = 'GET opens subscriptions only: send queries and mutations by POST';
      response.set('Allow', 'POST');
      return refuse(405, codedError('BAD_REQUEST', message));
    }
    if (verdict.rate !== undefined) response.set(rateHeaders(verdict.rate));
    if (kind === 'mutation') noteRequest(response, { changes: verdict.operation.fields });
    if (kind !== 'subscription') {
      const result = await federation.execute({ ...operation, context, transport: 'sse' });
      return sendOnly(permit.open(FORMAT), errors.formatResult(result, traceId));
    }
    await streamSubscription({ options, request, response, permit, operation, admitted: verdict, context });
  };
}

async function streamSubscription(work: {
  readonly options: SseOptions;
  readonly request: Request;
  readonly response: Response;
  readonly permit: StreamPermit;
  readonly operation: OperationRequest;
  readonly admitted: Admitted;
  readonly context: RequestContext;
}): Promise<void> {
  const { options, request, response, permit, operation, admitted, context } = work;
  const { errors } = options;
  const { traceId } = context.caller;
  const outcome = await follow(options, {
    ...admitted.operation,
    request: { ...operation, context, transport: 'sse' },
    after: parseEventId(request.get('last-event-id')),
  });
  if (!isStream(outcome)) {
    if (response.destroyed) return;
    const refusal = printEvent('next', errors.formatResult(outcome, traceId));
    permit.open(FORMAT).end(refusal + (isBreak(outcome) ? '' : printEnd()));
    return;
  }
  if (response.destroyed) return void (await outcome.return?.());
  const stream = permit.open(FORMAT);
  let isBroken = false;
  const isDone = await pumpResults({
    results: outcome,
    stream,
    print: (result) => {
      isBroken = isBreak(result);
      const taken = takeEventId(result);
      return printEvent('next', errors.formatResult(taken.result, traceId), taken.id);
    },
    onError: (error) => printEvent('next', { errors: [errors.formatError(error, traceId)] }) + printEnd(),
  });
  if (isDone) stream.end(isBroken ? '' : printEnd());
}

function sendOnly(stream: ResponseStream, result: FormattedExecutionResult): void {
  stream.end(printEvent('next', result) + printEnd());
}

function printEvent(event: 'next', data: FormattedExecutionResult, id?: EventId): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

function printEnd(): string {
  return `event: complete\nid: ${END_ID}\ndata:\n\n`;
}

function acceptsEventStream(request: Request): boolean {
  const isMethod = request.method === 'GET' || request.method === 'POST';
  return isMethod && /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(request.headers.accept ?? '');
}
