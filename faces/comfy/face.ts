import type { IncomingMessage, ServerResponse } from 'node:http';

import { type GraphQLSchema, validate } from 'graphql';

import { AppError } from '../../platform/errors.ts';
import type { RequestContext, StreamFormat } from '../../platform/graphql/operations/executor.ts';
import { noteRequest } from '../../platform/http/server.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { drain, ClientDisconnected } from '../../rest-compat/request/body/body.ts';
import { createMatcher } from '../../rest-compat/route/match.ts';
import { countRefusal, limitRequests, type RequestLimiter } from '../shared/rate-limits.ts';
import { decodePathParams } from '../shared/request.ts';
import { assetRoutes } from './assets.ts';
import {
  type ComfyParts,
  ComfyRefusal,
  type ComfyRoute,
  COMFY_PREFIX,
  type ComfyAnswer,
  type ComfyEvent,
} from './call.ts';
import { failureAnswer } from './failures.ts';
import { jobRoutes } from './jobs.ts';

/** What the face is built from. */
export interface ComfyFaceOptions extends ComfyParts {
  /** The caller of a request, and a signal that is aborted when the caller disconnects. */
  readonly contextFor: (request: IncomingMessage) => RequestContext;
  /** Absent: no limits, and no headers about them. */
  readonly rateLimiter?: RequestLimiter | undefined;
}

/** Comfy's API v2 over the graph. */
export interface ComfyFace {
  /** What serves a request; null when its path is not below the prefix. It rejects for mistakes of ours alone. */
  find(request: IncomingMessage): ((response: ServerResponse) => Promise<void>) | null;
}

/** Every operation of Comfy's API v2. */
const routes: readonly ComfyRoute[] = [...assetRoutes, ...jobRoutes];

/** Errors of the face's documents against this schema; empty when there are none. It is served only then. */
export function validateComfyFace(schema: GraphQLSchema): readonly string[] {
  const documents = new Set(routes.flatMap((route) => route.documents));
  return [...documents].flatMap((document) => validate(schema, document).map(({ message }) => message));
}

/** Makes the face: a table of operations, each of which runs documents of the graph as any other caller does. */
export function createComfyFace(options: ComfyFaceOptions): ComfyFace {
  const match = createMatcher(routes);
  return {
    find(request) {
      const [path = '/'] = (request.url ?? '/').split('?', 1);
      if (!path.startsWith(`${COMFY_PREFIX}/`)) return null;
      const matched = match(request.method ?? 'GET', path.slice(COMFY_PREFIX.length));
      return (response) => answer(options, { request, response, matched, path });
    },
  };
}

interface Found {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly matched: ReturnType<ReturnType<typeof createMatcher<ComfyRoute>>>;
  readonly path: string;
}

async function answer(options: ComfyFaceOptions, { request, response, matched, path }: Found): Promise<void> {
  const { contextFor, rateLimiter, ...parts } = options;
  const context = contextFor(request);
  const { traceId } = context.caller;
  const exchange: Exchange = { request, response, context, logger: parts.logger };
  response.setHeader('x-comfy-request-id', traceId);
  const route = matched !== null && 'route' in matched ? matched.route : undefined;
  const counted = { response, caller: context.caller };
  try {
    await limitRequests(rateLimiter, counted, route?.rateClass ?? 'read');
    if (matched === null) throw new AppError('NOT_FOUND', `there is no ${request.method} ${path}`);
    if ('allow' in matched) {
      response.setHeader('Allow', matched.allow.join(', '));
      throw new ComfyRefusal(405, 'method_not_allowed', `this path takes ${matched.allow.join(', ')}`);
    }
    noteRequest(response, { route: `${COMFY_PREFIX}${matched.route.path}` });
    const pathParams = decodePathParams(matched.pathParams);
    await sendAnswer(exchange, await matched.route.run({ ...parts, request, response, context, pathParams }));
  } catch (thrown) {
    const { status } = failureAnswer(thrown, traceId);
    // What was refused has started nothing: it counts as a write.
    const isRefusedStart = route?.rateClass === 'start' && status < 500 && status !== 429;
    await sendFailure(exchange, isRefusedStart ? await countRefusal(rateLimiter, counted, thrown) : thrown);
  }
}

/** Sends answers: JSON, texts, or server-sent events. */

/** A request and its response. */
interface Exchange {
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
async function sendAnswer(exchange: Exchange, answer: ComfyAnswer): Promise<void> {
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
async function sendFailure(exchange: Exchange, thrown: unknown): Promise<void> {
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
