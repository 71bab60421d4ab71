import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

import { isHangUp } from '../../../platform/http/server.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import { drain } from '../../../rest-compat/request/body/drain.ts';
import { ClientDisconnected } from '../../../rest-compat/request/body/failures.ts';
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

/** Milliseconds of silence after which a stream of events says that it is alive: proxies cut silent ones. */
const HEARTBEAT_MS = 15_000;

/** Sends one answer, and discards what is left of the request's body. */
export async function sendAnswer(exchange: Exchange, answer: FaceAnswer): Promise<void> {
  const { request, response } = exchange;
  if (answer === 'sent') return;
  if (response.headersSent || response.destroyed) return;
  response.setHeader('Cache-Control', 'no-store, no-transform');
  response.setHeaders(new Map(Object.entries(answer.headers ?? {})));
  drain(request);
  if ('body' in answer) return sendJson(response, answer.status ?? 200, answer.body);
  if ('events' in answer) return sendEvents(exchange, answer.events);
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

async function sendEvents(exchange: Exchange, events: AsyncIterable<FaceEvent>): Promise<void> {
  const { response } = exchange;
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' });
  response.flushHeaders();
  const heartbeat = setInterval(() => response.write(': the work goes on\n\n'), HEARTBEAT_MS);
  try {
    for await (const event of events) {
      if (response.destroyed) return;
      if (!response.write(textOf(event)))
        await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
  } catch (thrown) {
    sayFailure(exchange, thrown);
  } finally {
    clearInterval(heartbeat);
    response.end();
  }
}

/** The status is sent already: the failure is an event, as OpenAI's own. */
function sayFailure({ response, traceId, logger }: Exchange, thrown: unknown): void {
  if (thrown instanceof ClientDisconnected || response.destroyed) return;
  const { unexpected, body } = failureAnswer(thrown, traceId);
  if (unexpected) logger.error({ error: thrown, traceId }, 'a stream in OpenAI’s format failed');
  response.write(textOf({ name: 'error', data: { type: 'error', ...body } }));
}

function textOf({ name, data }: FaceEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`;
}
