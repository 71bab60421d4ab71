import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

import { AppError } from '../../../platform/errors.ts';
import type {
  RequestContext,
  StreamFormat,
  StreamPermit,
} from '../../../platform/graphql/operations/executor.ts';
import { isHangUp } from '../../../platform/http/server.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import { drain, ClientDisconnected } from '../../../rest-compat/request/body/body.ts';
import type { FaceAnswer, FaceEvent } from '../table/route.ts';
import { failureAnswer } from './failures.ts';

/** Sends answers: JSON, bytes, or server-sent events. */

/** A request and its response. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly traceId: string;
  readonly logger: Logger;
}

/** Sends one answer, and discards what is left of the request's body. */
export async function sendAnswer(exchange: Exchange, answer: FaceAnswer): Promise<void> {
  const { request, response } = exchange;
  if (answer === 'sent') return;
  if (response.headersSent || response.destroyed) return;
  response.setHeader('Cache-Control', 'no-store, no-transform');
  response.setHeaders(new Map(Object.entries(answer.headers ?? {})));
  drain(request);
  if ('body' in answer) return sendJson(response, answer.status ?? 200, answer.body);
  if ('events' in answer) return sendEvents(exchange, answer);
  response.writeHead(200, { 'Content-Type': answer.contentType });
  try {
    await pipeline(answer.stream, response);
  } catch (error) {
    // The headers are sent: only a broken connection can say that the rest is missing.
    if (!isHangUp(error)) exchange.logger.warn({ error, traceId: exchange.traceId }, 'an answer broke off');
    response.destroy();
  }
}

/** Sends the answer to whatever was thrown; what nobody foresaw is logged. */
export async function sendFailure(exchange: Exchange, thrown: unknown): Promise<void> {
  const { response, traceId, logger } = exchange;
  if (thrown instanceof ClientDisconnected || response.destroyed) return;
  const { unexpected, ...failure } = failureAnswer(thrown, traceId);
  if (unexpected) logger.error({ error: thrown, traceId }, 'a request in OpenAI’s format failed');
  await sendAnswer(exchange, failure);
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

/** The headers are sent: where it can't go on, a stream says so by an event, as OpenAI's own. */
const STREAM: StreamFormat = {
  headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' },
  opening: '',
  heartbeat: ': the work goes on\n\n',
  shutdown: () => failureText(new AppError('UNAVAILABLE', 'this server stops: send the request again')),
  credentialEnd: failureText(new AppError('UNAUTHENTICATED', 'the credential has ended')),
};

/** Reserves the stream of an answer, before anything is started for it. Throws RATE_LIMITED when the caller has too many open. */
export function reserveStream({ reserveStream: reserve }: RequestContext): StreamPermit {
  const permit = reserve?.() ?? null;
  if (permit !== null) return permit;
  const message =
    'Too many streams are open, or the server is stopping: end one, or send the request without stream.';
  throw new AppError('RATE_LIMITED', message, { retryAfter: 5 });
}

async function sendEvents(
  { traceId, logger }: Exchange,
  { permit, events }: { readonly permit: StreamPermit; readonly events: AsyncIterable<FaceEvent> },
): Promise<void> {
  const stream = permit.open(STREAM);
  try {
    for await (const event of events) if (!(await stream.send(toEventText(event)))) return;
  } catch (thrown) {
    if (thrown instanceof ClientDisconnected) return;
    if (failureAnswer(thrown, traceId).unexpected)
      logger.error({ error: thrown, traceId }, 'a stream in OpenAI’s format failed');
    stream.end(failureText(thrown, traceId));
  } finally {
    stream.end('');
  }
}

function failureText(thrown: unknown, traceId = ''): string {
  const { body } = failureAnswer(thrown, traceId);
  return toEventText({ name: 'error', data: { type: 'error', ...body } });
}

function toEventText({ name, data }: FaceEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`;
}
