import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Logger } from '../../platform/process/logger.ts';
import { drain } from '../../rest-compat/request/body/drain.ts';
import { ClientDisconnected } from '../../rest-compat/request/body/failures.ts';
import { type ComfyAnswer, type ComfyEvent, ComfyRefusal } from './call.ts';
import { failureAnswer } from './failures.ts';

/** Sends answers: JSON, texts, or server-sent events. */

/** A request and its response. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly traceId: string;
  readonly logger: Logger;
}

/** What sends answers. */
interface Sender {
  /** Sends one answer, and discards what is left of the request's body. Throws before anything is sent. */
  answer(exchange: Exchange, answer: ComfyAnswer): Promise<void>;
  /** Answers whatever was thrown; what nobody foresaw is logged. */
  fail(exchange: Exchange, thrown: unknown): Promise<void>;
}

/** Milliseconds of silence after which a stream says that it is alive: clients give up after 45 s. */
const HEARTBEAT_MS = 15_000;
/** Most streams of one process. */
const MAX_STREAMS = 1_000;

/** Makes what sends answers, and counts the streams that are open. */
export function createSender(): Sender {
  let open = 0;
  const answer: Sender['answer'] = async (exchange, given) => {
    const { request, response } = exchange;
    if (given === 'sent' || response.headersSent || response.destroyed) return;
    response.setHeader('Cache-Control', 'no-store, no-transform');
    drain(request);
    if ('text' in given) return sendText(response, 200, given.text, 'text/plain; charset=utf-8');
    if ('body' in given) {
      response.setHeaders(new Map(Object.entries(given.headers ?? {})));
      return sendText(
        response,
        given.status ?? 200,
        JSON.stringify(given.body),
        'application/json; charset=utf-8',
      );
    }
    if ('status' in given) {
      response.writeHead(204).end();
      return;
    }
    if (open >= MAX_STREAMS)
      throw new ComfyRefusal(429, 'too_many_streams', 'too many streams are open: poll the job');
    open += 1;
    try {
      await sendEvents(exchange, given.events);
    } finally {
      open -= 1;
    }
  };
  return {
    answer,
    async fail(exchange, thrown) {
      const { response, traceId, logger } = exchange;
      if (thrown instanceof ClientDisconnected || response.destroyed) return;
      const { unexpected, ...failure } = failureAnswer(thrown, traceId);
      if (unexpected) logger.error({ error: thrown, traceId }, "a request of Comfy's API failed");
      await answer(exchange, failure);
    },
  };
}

function sendText(response: ServerResponse, status: number, text: string, type: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
}

async function sendEvents(
  { response, traceId, logger }: Exchange,
  events: AsyncIterable<ComfyEvent>,
): Promise<void> {
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' });
  response.flushHeaders();
  const heartbeat = setInterval(() => response.write(': the job goes on\n\n'), HEARTBEAT_MS);
  try {
    for await (const { name, data, id } of events) {
      if (response.destroyed) return;
      const number = id === undefined ? '' : `id: ${id}\n`;
      if (!response.write(`${number}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`))
        await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
  } catch (error) {
    // The status is sent: clients read the job itself when a stream ends without its end, and come back.
    if (!response.destroyed) logger.warn({ error, traceId }, 'a stream of job events broke off');
  } finally {
    clearInterval(heartbeat);
    response.end();
  }
}
