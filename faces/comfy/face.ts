import type { IncomingMessage, ServerResponse } from 'node:http';

import type { GraphQLSchema } from 'graphql';
import { validate } from 'graphql';

import { AppError } from '../../platform/errors.ts';
import type { RequestContext } from '../../platform/graphql/operations/executor.ts';
import { noteRequest } from '../../platform/http/request-facts.ts';
import { createMatcher } from '../../rest-compat/route/match.ts';
import { countRefusal, limitRequests, type RequestLimiter } from '../shared/rate-limits.ts';
import { decodePathParams } from '../shared/request.ts';
import { assetRoutes } from './assets.ts';
import { type ComfyParts, ComfyRefusal, type ComfyRoute, COMFY_PREFIX } from './call.ts';
import { failureAnswer } from './failures.ts';
import { jobRoutes } from './jobs.ts';
import { type Exchange, sendAnswer, sendFailure } from './send.ts';

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
