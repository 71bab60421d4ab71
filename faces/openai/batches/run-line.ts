import { setTimeout as pause } from 'node:timers/promises';

import type { JsonObject } from '../../../platform/json.ts';
import type { Batch, BatchLine, LineOutcome } from '../batch-store/batch.ts';
import { imageAnswer } from '../images/reply.ts';
import { objectIn, textIn } from '../request/fields.ts';
import type { FaceParts, FaceRoute } from '../table/route.ts';
import { cancelTask, finished, readTask } from '../tasks/follow.ts';
import { requestAnswer, attempt, type Attempt, findRoute } from './call-route.ts';
import { createCancelContext, createOwnerContext } from './owner.ts';

/** Runs one call of a batch as its owner would have made it, again and again until it has ended. */

/** Tries of a call that is refused for a while (a full queue, a rate), about an hour in all. */
const MOST_TRIES = 60;
/** Longest pause between two of them. */
const LONGEST_PAUSE_SECONDS = 60;
/** Milliseconds between two questions about a video. */
const POLL_MS = 2_000;

/**
 * The outcome of one call; null: it goes on in its vendor's batch, and is to be asked for again. Each try has the same idempotency
 * key, so that work that was begun is joined. Throws when `signal` is aborted.
 */
export async function runLine(
  parts: FaceParts,
  batch: Batch,
  line: BatchLine,
  { signal, cancelling }: { readonly signal: AbortSignal; readonly cancelling: AbortSignal },
): Promise<LineOutcome | null> {
  const { task = null } = line;
  if (task !== null) return readOutcome(parts, { batch, task, signal, isCancelled: cancelling.aborted });
  if (await hasBatches(parts, { batch, line, signal })) {
    const begun = await beginInBatch(parts, { batch, line, signal });
    // Begun one by one by a process that had other settings: it is joined so.
    if (begun === null || !isOtherCall(begun)) return begun;
  }
  let flex = await findFlex(parts, { batch, line, signal });
  for (let tries = 0; ; tries += 1) {
    signal.throwIfAborted();
    const { outcome, headers } = await attempt(parts, { batch, line, tries, flex, signal });
    signal.throwIfAborted();
    if (outcome.status === 202) continue;
    if (isOtherCall(outcome) && isOfImages(batch)) return beginInBatch(parts, { batch, line, signal });
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
async function findFlex(
  { models, settings }: FaceParts,
  { batch, line, signal }: Pick<Attempt, 'batch' | 'line' | 'signal'>,
): Promise<JsonObject | null> {
  const { body, hasLeftFlex = false } = line;
  const isChat = batch.endpoint === '/v1/chat/completions';
  if (!isChat || !settings.batchFlex || hasLeftFlex) return null;
  if (TIERS.some((name) => (body[name] ?? objectIn(body, 'options')?.[name] ?? null) !== null)) return null;
  try {
    const { optionsSchema } = await models.find(
      'CHAT',
      textIn(body, 'model'),
      createOwnerContext(batch, signal),
    );
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

/** Whether the key of a call stands for the same one made in another way. */
function isOtherCall({ status, body }: LineOutcome): boolean {
  const { error } = body as { readonly error?: { readonly code?: string } };
  return status === 409 && error?.code === 'idempotency_conflict';
}

interface Started {
  readonly batch: Batch;
  readonly outcome: LineOutcome;
  readonly signal: AbortSignal;
}

/** A video that was begun, as it is at its end; one that failed has the status of an error. */
async function ended(parts: FaceParts, { batch, outcome, signal }: Started): Promise<LineOutcome> {
  const route = findRoute('GET', '/videos/{id}');
  let last = outcome;
  for (;;) {
    const { id, status } = last.body as { readonly id?: string; readonly status?: string };
    if (status === 'failed') return { ...last, status: 500 };
    if (id === undefined || (status !== 'queued' && status !== 'in_progress')) return last;
    await pause(POLL_MS, undefined, { signal });
    const { outcome: now } = await requestAnswer(parts, { batch, signal, route, pathParams: { id } });
    // The task itself is gone, or the graph is away for a moment.
    if (now.status < 500) last = now;
  }
}

/** Calls for images that go on in their vendor's own batches: begun as tasks, and asked for again later. */

type Line = Pick<Attempt, 'batch' | 'line' | 'signal'>;

/** Days after which a call that is refused for a while is not begun in a batch any more. */
const MOST_WAITING_DAYS = 2;

/** Whether the model of a call makes images in its vendor's batches. */
async function hasBatches({ models, settings }: FaceParts, { batch, line, signal }: Line): Promise<boolean> {
  if (!settings.batchFlex || !isOfImages(batch)) return false;
  try {
    const model = await models.find('IMAGE', textIn(line.body, 'model'), createOwnerContext(batch, signal));
    return model.hasBatches;
  } catch {
    // The call itself is refused with the reason.
    return false;
  }
}

/** Begins a call whose task goes on in its vendor's batch. Its outcome where it is refused, or has ended already. */
async function beginInBatch(parts: FaceParts, { batch, line, signal }: Line): Promise<LineOutcome | null> {
  const { outcome, headers } = await attempt(parts, {
    batch,
    line,
    tries: 0,
    flex: null,
    inVendorBatch: true,
    signal,
  });
  signal.throwIfAborted();
  const { id } = outcome.body as { readonly id?: string };
  if (outcome.status === 202 && id !== undefined) {
    await parts.batches?.store.noteTask(batch.id, line.index, id);
    return null;
  }
  const isOld = Date.now() - batch.createdAt.getTime() > MOST_WAITING_DAYS * 86_400_000;
  return headers['x-should-retry'] === 'true' && !isOld ? null : outcome;
}

/** The outcome of a task that was begun so; null while it goes on. */
async function readOutcome(
  parts: FaceParts,
  {
    batch,
    task: id,
    signal,
    isCancelled,
  }: {
    readonly batch: Batch;
    readonly task: string;
    readonly signal: AbortSignal;
    readonly isCancelled: boolean;
  },
): Promise<LineOutcome | null> {
  if (isCancelled) await cancelTask(parts, createCancelContext(batch, signal), id);
  const run: FaceRoute['run'] = async (call) =>
    imageAnswer(call, await finished(call, await readTask(call, id), true), 'url');
  const route = { ...findRoute('GET', '/images/generations/{id}'), run };
  const { outcome, headers } = await requestAnswer(parts, { batch, signal, route });
  signal.throwIfAborted();
  return outcome.status === 202 || headers['x-should-retry'] === 'true' ? null : outcome;
}

/** Whether a batch makes images. */
function isOfImages({ endpoint }: Pick<Batch, 'endpoint'>): boolean {
  return endpoint.startsWith('/v1/images/');
}
