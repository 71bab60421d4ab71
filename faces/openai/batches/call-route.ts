import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

import { newTraceId } from '../../../platform/ids.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { failureAnswer } from '../answers/failures.ts';
import type { Batch, BatchLine, LineOutcome } from '../batch-store/batch.ts';
import { chatRoutes } from '../chat/routes.ts';
import { imageRoutes } from '../images/routes.ts';
import { objectIn } from '../request/fields.ts';
import type { FaceCall, FaceParts, FaceRoute } from '../table/route.ts';
import { videoRoutes } from '../videos/routes.ts';
import { createOwnerContext } from './owner.ts';

/** One call of a batch, made by the route of the face that serves it. */

const routes = [...imageRoutes, ...videoRoutes, ...chatRoutes];

/** One try of a call. */
export interface Attempt {
  readonly batch: Batch;
  readonly line: BatchLine;
  readonly tries: number;
  /** What asks for half the price; null: the usual one is paid. */
  readonly flex: JsonObject | null;
  /** Whether its task goes on in its vendor's batch. */
  readonly inVendorBatch?: boolean;
  readonly signal: AbortSignal;
}

/** Makes a call once. */
export async function attempt(parts: FaceParts, made: Attempt) {
  const { batch, line, tries, flex, signal } = made;
  const headers = {
    // Another key for the other price: it is another call.
    'idempotency-key': `${batch.id}:${line.index}${flex === null ? '' : ':flex'}`,
    'x-stainless-retry-count': String(tries),
    'content-type': 'application/json',
  };
  const path = batch.endpoint.slice('/v1'.length);
  return requestAnswer(parts, { batch, signal, route: findRoute('POST', path), headers, body: toBody(made) });
}

function toBody({ batch: { endpoint }, line: { body }, flex, inVendorBatch = false }: Attempt): JsonObject {
  const { async: _, ...rest } = body;
  if (flex !== null) return { ...rest, options: { ...objectIn(body, 'options'), ...flex } };
  if (!endpoint.startsWith('/v1/images/')) return rest;
  return { ...rest, response_format: 'url', ...(inVendorBatch && { batch: true, async: true }) };
}

/** The route that serves a call. */
export function findRoute(method: string, path: string): FaceRoute {
  const route = routes.find((one) => one.method === method && one.path === path);
  if (route === undefined) throw new Error(`no route ${method} ${path}`);
  return route;
}

interface LineRequest {
  readonly batch: Batch;
  readonly signal: AbortSignal;
  readonly route: FaceRoute;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  readonly pathParams?: Readonly<Record<string, string>>;
}

/** One answer, and headers that say whether to ask again. */
interface LineAnswer {
  readonly outcome: LineOutcome;
  readonly headers: Readonly<Record<string, string>>;
}

/** What the route of the face answers the owner of the batch. */
export async function requestAnswer(parts: FaceParts, line: LineRequest): Promise<LineAnswer> {
  const { batch, signal, route, headers = {}, body, pathParams = {} } = line;
  const requestId = newTraceId();
  const request = new IncomingMessage(new Socket());
  Object.assign(request, { method: route.method, url: route.path, headers });
  if (body !== undefined) request.push(JSON.stringify(body));
  request.push(null);
  const call: FaceCall = {
    ...parts,
    request,
    response: new ServerResponse(request),
    context: createOwnerContext(batch, signal, requestId),
    pathParams,
    query: new URLSearchParams(),
  };
  try {
    const answer = await route.run(call);
    if (answer === 'sent' || !('body' in answer)) throw new Error(`${route.path} answered no JSON`);
    return { outcome: { status: answer.status ?? 200, requestId, body: answer.body }, headers: {} };
  } catch (thrown) {
    signal.throwIfAborted();
    const { status, headers, body: failure, unexpected } = failureAnswer(thrown, requestId);
    if (unexpected) parts.logger.error({ error: thrown, batch: batch.id }, 'a call of a batch failed');
    return { outcome: { status, requestId, body: failure }, headers };
  }
}
