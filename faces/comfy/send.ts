import type { IncomingMessage, ServerResponse } from 'node:http';

import type { RequestContext, StreamFormat } from '../../platform/graphql/operations/executor.ts';
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
  readonly context: RequestContext;
  readonly logger: Logger;
}

/** A stream of events. Clients read the job itself when it ends without the job's end. */
const STREAM: StreamFormat = {
  headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' },
  opening: ': the job\n\n',
  heartbeat: ': the job goes on\n\n',
  shutdown: () => ': the server is stopping\n\n',
  credentialEnd: ': the credential has ended\n\n',
};

/** Sends one answer, and discards what is left of the request's body. Throws before anything is sent. */
export async function sendAnswer(exchange: Exchange, answer: ComfyAnswer): Promise<void> {
  const { request, response } = exchange;
  if (answer === 'sent' || response.headersSent || response.destroyed) return;
  response.setHeader('Cache-Control', 'no-store, no-transform');
  drain(request);
  if ('text' in answer) return sendText(response, 200, answer.text, 'text/plain; charset=utf-8');
  if ('body' in answer) {
    response.setHeaders(new Map(Object.entries(answer.headers ?? {})));
    const text = JSON.stringify(answer.body);
    return sendText(response, answer.status ?? 200, text, 'application/json; charset=utf-8');
  }
  if ('status' in answer) {
    response.writeHead(204).end();
    return;
  }
  await sendEvents(exchange, answer.events);
}

/** Answers whatever was thrown; what nobody foresaw is logged. */
export async function sendFailure(exchange: Exchange, thrown: unknown): Promise<void> {
  const { response, context, logger } = exchange;
  if (thrown instanceof ClientDisconnected || response.destroyed) return;
  const { traceId } = context.caller;
  const { unexpected, ...failure } = failureAnswer(thrown, traceId);
  if (unexpected) logger.error({ error: thrown, traceId }, "a request of Comfy's API failed");
  await sendAnswer(exchange, failure);
}

function sendText(response: ServerResponse, status: number, text: string, type: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
}

async function sendEvents(
  { context, logger }: Exchange,
  events: (stop: AbortSignal) => AsyncIterable<ComfyEvent>,
): Promise<void> {
  const permit = context.reserveStream?.() ?? null;
  if (permit === null) {
    const message = 'too many streams are open, or the server is stopping: poll the job';
    throw new ComfyRefusal(429, 'too_many_streams', message);
  }
  const stream = permit.open(STREAM);
  const closed = new AbortController();
  stream.onClose(() => closed.abort());
  try {
    for await (const { name, data, id } of events(closed.signal)) {
      const number = id === undefined ? '' : `id: ${id}\n`;
      if (!(await stream.send(`${number}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`))) return;
    }
  } catch (error) {
    // The status is sent.
    if (!closed.signal.aborted)
      logger.warn({ error, traceId: context.caller.traceId }, 'a stream of job events broke off');
  } finally {
    stream.end('');
  }
}
