import type { IncomingMessage, ServerResponse } from 'node:http';

import { isMalformedBearer, MALFORMED_BEARER } from '../../platform/access/bearer.ts';
import { AppError } from '../../platform/errors.ts';
import type { RequestContext } from '../../platform/graphql/operations/executor.ts';
import { noteRequest } from '../../platform/http/server.ts';
import { createMatcher } from '../../rest-compat/route/match.ts';
import { countRefusal, limitRequests, type RequestLimiter } from '../shared/rate-limits.ts';
import { decodePathParams } from '../shared/request.ts';
import { failureAnswer } from './answers/failures.ts';
import { type Exchange, sendAnswer, sendFailure } from './answers/send.ts';
import type { BatchStore } from './batch-store/store.ts';
import { type BatchRunner, startBatchRunner } from './batches/runner.ts';
import { createModelFinder } from './models/model.ts';
import { faceRoutes } from './routes.ts';
import { remedyFor } from './table/absent.ts';
import type { FaceParts, FaceRoute } from './table/route.ts';

/** What the face is built from. */
export interface OpenaiFaceOptions extends Omit<FaceParts, 'models' | 'batches'> {
  /** Where batches are kept; null without a database. */
  readonly batchStore: BatchStore | null;
  /** Calls of all batches at once in this process (OPENAI_BATCH_CONCURRENCY). */
  readonly batchConcurrency: number;
  /** The caller of a request, and a signal that is aborted when the caller disconnects. */
  readonly contextFor: (request: IncomingMessage) => RequestContext;
  /** Absent: no limits, and no headers about them. */
  readonly rateLimiter?: RequestLimiter | undefined;
}

/** OpenAI's API over the graph. */
export interface OpenaiFace {
  /** What serves a request; null when its path is not below the prefix. It rejects for mistakes of ours alone. */
  find(request: IncomingMessage): ((response: ServerResponse) => Promise<void>) | null;
  /** Begins to run batches; null without a database. */
  runBatches(): BatchRunner | null;
}

/** Makes the face: a table of operations, each of which runs documents of the graph as any other caller does. */
export function createOpenaiFace(options: OpenaiFaceOptions): OpenaiFace {
  const { settings, executor } = options;
  const match = createMatcher(faceRoutes);
  let runner: BatchRunner | null = null;
  const { batchStore: store, batchConcurrency: concurrency } = options;
  const batches = store && { store, wake: () => runner?.wake() };
  const parts = { ...options, batches, models: createModelFinder({ executor, aliases: settings.aliases }) };
  const below = `${settings.prefix}/`;
  return {
    find(request) {
      const [path = '/', query = ''] = (request.url ?? '/').split('?', 2);
      if (!path.startsWith(below)) return null;
      const matched = match(request.method ?? 'GET', path.slice(settings.prefix.length));
      return (response) => answer({ parts, options }, { request, response, matched, query, path });
    },
    runBatches: () => (runner ??= store && startBatchRunner({ parts, store, concurrency })),
  };
}

interface Found {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly matched: ReturnType<ReturnType<typeof createMatcher<FaceRoute>>>;
  readonly query: string;
  readonly path: string;
}

async function answer(
  { parts, options }: { readonly parts: FaceParts; readonly options: OpenaiFaceOptions },
  { request, response, matched, query, path }: Found,
): Promise<void> {
  const context = options.contextFor(request);
  const { traceId } = context.caller;
  const exchange: Exchange = { request, response, traceId, logger: parts.logger };
  response.setHeader('x-request-id', traceId);
  const route = matched !== null && 'route' in matched ? matched.route : undefined;
  const counted = { response, caller: context.caller };
  try {
    await limitRequests(options.rateLimiter, counted, route?.rateClass ?? 'read');
    const { method = 'GET' } = request;
    const remedy = route ? null : remedyFor(method, path.slice(parts.settings.prefix.length));
    if (matched === null || remedy !== null) {
      const message = `Unknown request URL: ${method} ${path}`;
      throw new AppError('NOT_FOUND', remedy === null ? message : `${message}. It is not there: ${remedy}`);
    }
    if ('allow' in matched) return await refuseMethod(exchange, matched.allow);
    noteRequest(response, { route: `${parts.settings.prefix}${matched.route.path}` });
    const pathParams = decodePathParams(matched.pathParams);
    const call = { ...parts, request, response, context, pathParams, query: new URLSearchParams(query) };
    await sendAnswer(exchange, await matched.route.run(call));
  } catch (thrown) {
    const hasStarted = response.headersSent || response.hasHeader('x-kiln-task');
    const isRefusedStart = route?.rateClass === 'start' && !hasStarted && isRefusal(thrown);
    const error = isRefusedStart ? await countRefusal(options.rateLimiter, counted, thrown) : thrown;
    await sendFailure(exchange, withHint(error, request));
  }
}

/** Whether nothing was started, for a reason that the caller could have known. */
function isRefusal(thrown: unknown): boolean {
  const { status } = failureAnswer(thrown, '');
  return status < 500 && status !== 429;
}

async function refuseMethod(exchange: Exchange, allow: readonly string[]): Promise<void> {
  const message = `Not allowed to ${exchange.request.method} on this path: it takes ${allow.join(', ')}`;
  const error = { message, type: 'invalid_request_error', param: null, code: 'method_not_allowed' };
  await sendAnswer(exchange, { status: 405, headers: { Allow: allow.join(', ') }, body: { error } });
}

/** Who is refused without a credential learns when the one that came could not be read. */
function withHint(thrown: unknown, { headers }: IncomingMessage): unknown {
  const isRefusal = thrown instanceof AppError && thrown.code === 'UNAUTHENTICATED';
  if (!isRefusal || !isMalformedBearer(headers.authorization)) return thrown;
  return new AppError('UNAUTHENTICATED', MALFORMED_BEARER, { cause: thrown });
}
