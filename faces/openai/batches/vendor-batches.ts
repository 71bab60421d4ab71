import type { Batch, LineOutcome } from '../batch-store/batch.ts';
import { pictureAnswer } from '../images/reply.ts';
import { textIn } from '../request/fields.ts';
import type { FaceParts, FaceRoute } from '../table/route.ts';
import { cancelTask, finished, readTask } from '../tasks/follow.ts';
import { answerOf, attempt, type Attempt, routeOf } from './call-route.ts';
import { contextOf } from './owner.ts';

/** Calls for pictures that go on in their vendor's own batches: begun as tasks, and asked for again later. */

type Line = Pick<Attempt, 'batch' | 'line' | 'signal'>;

/** Days after which a call that is refused for a while is not begun in a batch any more. */
const MOST_WAITING_DAYS = 2;

/** Whether the model of a call makes pictures in its vendor's batches. */
export async function hasBatches(
  { models, settings }: FaceParts,
  { batch, line, signal }: Line,
): Promise<boolean> {
  if (!settings.batchFlex || !isOfPictures(batch)) return false;
  try {
    const model = await models.find('IMAGE', textIn(line.body, 'model'), contextOf(batch, signal));
    return model.hasBatches;
  } catch {
    // The call itself is refused with the reason.
    return false;
  }
}

/** Begins a call whose task goes on in its vendor's batch. Its outcome where it is refused, or has ended already. */
export async function beginInBatch(
  parts: FaceParts,
  { batch, line, signal }: Line,
): Promise<LineOutcome | null> {
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
export async function endOfTask(
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
  if (isCancelled) await cancelTask(parts, contextOf(batch, signal), id);
  const run: FaceRoute['run'] = async (call) =>
    pictureAnswer(call, await finished(call, await readTask(call, id), true), 'url');
  const route = { ...routeOf('GET', '/images/generations/{id}'), run };
  const { outcome, headers } = await answerOf(parts, { batch, signal, route });
  signal.throwIfAborted();
  return outcome.status === 202 || headers['x-should-retry'] === 'true' ? null : outcome;
}

/** Whether a batch makes pictures. */
export function isOfPictures({ endpoint }: Pick<Batch, 'endpoint'>): boolean {
  return endpoint.startsWith('/v1/images/');
}
