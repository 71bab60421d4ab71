import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { newTraceId } from '../../../platform/ids.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { failureAnswer } from '../answers/failures.ts';
import type { Batch, BatchEndpoint, BatchLine, LineOutcome } from '../batch-store/batch.ts';
import { chatRoutes } from '../chat/routes.ts';
import { imageRoutes } from '../images/routes.ts';
import { objectIn, textIn } from '../request/fields.ts';
import type { FaceCall, FaceParts, FaceRoute } from '../table/route.ts';
import { videoRoutes } from '../videos/routes.ts';
import { contextOf } from './owner.ts';

/** Runs one call of a batch as its owner would have made it, again and again until it has ended. */

/** Tries of a call that is refused for a while (a full queue, a rate), about an hour in all. */
const MOST_TRIES = 60;
/** Longest pause between two of them. */
const LONGEST_PAUSE_SECONDS = 60;
/** Milliseconds between two questions about a video. */
const POLL_MS = 2_000;

const routes = [...imageRoutes, ...videoRoutes, ...chatRoutes];

/** The outcome of one call. Each try has the same idempotency key, so that work that was begun is joined. Throws when `signal` is aborted. */
export async function runLine(
  parts: FaceParts,
  batch: Batch,
  line: BatchLine,
  signal: AbortSignal,
): Promise<LineOutcome> {
  let flex = await flexOf(parts, { batch, line, signal });
  for (let tries = 0; ; tries += 1) {
    signal.throwIfAborted();
    const { outcome, headers } = await attempt(parts, { batch, line, tries, flex, signal });
    signal.throwIfAborted();
    if (outcome.status === 202) continue;
    if (flex !== null && hasNoFlex(outcome, tries)) {
      await parts.batches?.store.leaveFlex(batch.id, line.index);
      [flex, tries] = [null, -1];
      continue;
    }
    if (headers['x-should-retry'] === 'true' && tries < MOST_TRIES) {
      const seconds = Math.min(LONGEST_PAUSE_SECONDS, Number(headers['Retry-After'] ?? 1));
      await pause(seconds * 1_000, undefined, { signal });
      continue;
    }
    return batch.endpoint === '/v1/videos' ? ended(parts, { batch, outcome, signal }) : outcome;
  }
}

/** Tries at half the price that find no room at the vendor, about five minutes in all; then the usual price is paid. */
const MOST_FLEX_TRIES = 10;

/** The vendors' names of the option that half the price is asked for by. */
const TIERS = ['service_tier', 'serviceTier'] as const;

/** The option by which a chat goes at its vendor's half price; null: its model has none, or the call or the setting says otherwise. */
async function flexOf(
  { models, settings }: FaceParts,
  { batch, line, signal }: Pick<Attempt, 'batch' | 'line' | 'signal'>,
): Promise<JsonObject | null> {
  const { body, hasLeftFlex = false } = line;
  const isChat = batch.endpoint === '/v1/chat/completions';
  if (!isChat || !settings.batchFlex || hasLeftFlex) return null;
  if (TIERS.some((name) => (body[name] ?? objectIn(body, 'options')?.[name] ?? null) !== null)) return null;
  try {
    const { optionsSchema } = await models.find('CHAT', textIn(body, 'model'), contextOf(batch, signal));
    const { properties = {} } = (optionsSchema ?? {}) as OptionsWithTiers;
    const name = TIERS.find((one) => properties[one]?.enum?.includes('flex') === true);
    return name === undefined ? null : { [name]: 'flex' };
  } catch {
    // The call itself is refused with the reason.
    return null;
  }
}

interface OptionsWithTiers {
  readonly properties?: Readonly<Record<string, { readonly enum?: readonly unknown[] } | undefined>>;
}

/** Whether the vendor has no such tier here, or no room in it; neither is charged. */
function hasNoFlex({ status, body }: LineOutcome, tries: number): boolean {
  const { error } = body as { readonly error?: { readonly param?: string | null } };
  if (status === 400) return TIERS.some((name) => error?.param?.includes(name) === true);
  return (status === 429 || status === 503) && tries >= MOST_FLEX_TRIES;
}

interface Attempt {
  readonly batch: Batch;
  readonly line: BatchLine;
  readonly tries: number;
  /** What asks for half the price; null: the usual one is paid. */
  readonly flex: JsonObject | null;
  readonly signal: AbortSignal;
}

async function attempt(parts: FaceParts, { batch, line, tries, flex, signal }: Attempt) {
  const headers = {
    // Another key for the other price: it is another call.
    'idempotency-key': `${batch.id}:${line.index}${flex === null ? '' : ':flex'}`,
    'x-stainless-retry-count': String(tries),
    'content-type': 'application/json',
  };
  const path = batch.endpoint.slice('/v1'.length);
  return answerOf(parts, {
    batch,
    signal,
    route: routeOf('POST', path),
    headers,
    body: bodyOf(line, batch.endpoint, flex),
  });
}

function bodyOf({ body }: BatchLine, endpoint: BatchEndpoint, flex: JsonObject | null): JsonObject {
  const { async: _, ...rest } = body;
  if (flex !== null) return { ...rest, options: { ...objectIn(body, 'options'), ...flex } };
  return endpoint.startsWith('/v1/images/') ? { ...rest, response_format: 'url' } : rest;
}

function routeOf(method: string, path: string): FaceRoute {
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
async function answerOf(parts: FaceParts, line: LineRequest): Promise<LineAnswer> {
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
    context: contextOf(batch, signal, requestId),
    pathParams,
    query: new URLSearchParams(),
  };
  try {
    const answer = await route.run(call);
    if (answer === 'sent' || !('body' in answer)) throw new Error(`${route.path} answered no JSON`);
    return { outcome: { status: answer.status ?? 200, requestId, body: answer.body }, headers: {} };
  } catch (thrown) {
    signal.throwIfAborted();
    const { status, headers: told, body: said, unexpected } = failureAnswer(thrown, requestId);
    if (unexpected) parts.logger.error({ error: thrown, batch: batch.id }, 'a call of a batch failed');
    return { outcome: { status, requestId, body: said }, headers: told };
  }
}

interface Started {
  readonly batch: Batch;
  readonly outcome: LineOutcome;
  readonly signal: AbortSignal;
}

/** A video that was begun, as it is at its end; one that failed has the status of an error. */
async function ended(parts: FaceParts, { batch, outcome, signal }: Started): Promise<LineOutcome> {
  const route = routeOf('GET', '/videos/{id}');
  let last = outcome;
  for (;;) {
    const { id, status } = last.body as { readonly id?: string; readonly status?: string };
    if (status === 'failed') return { ...last, status: 500 };
    if (id === undefined || (status !== 'queued' && status !== 'in_progress')) return last;
    await pause(POLL_MS, undefined, { signal });
    const { outcome: now } = await answerOf(parts, { batch, signal, route, pathParams: { id } });
    // The task itself is gone, or the graph is away for a moment.
    if (now.status < 500) last = now;
  }
}
