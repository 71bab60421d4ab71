import { setTimeout as pause } from 'node:timers/promises';

import { AppError, type AppErrorCode } from '../../../platform/errors.ts';
import { runDocument } from '../../../rest-compat/replies/results.ts';
import { openFile } from '../answers/files.ts';
import type { Batch, BatchLine, BatchProblem, BatchStatus } from '../batch-store/batch.ts';
import type { BatchStore } from '../batch-store/store.ts';
import { FaceFileById } from '../documents/file.ts';
import type { FaceParts } from '../table/route.ts';
import { BadBatch, readLines, storeResults } from './batch-files.ts';
import { createOwnerContext } from './owner.ts';
import { runLine } from './run-line.ts';
import type { Slots } from './slots.ts';

/** The life of one batch: its input is read, its calls are made, its results are stored. */

/** Calls that are stored at once. */
const CHUNK = 500;

/** A batch that this process has. */
interface Advancing {
  readonly parts: FaceParts;
  readonly store: BatchStore;
  /** Who has it. */
  readonly holder: string;
  readonly slots: Slots;
  /** Aborted when it is another's, or this process stops. */
  readonly signal: AbortSignal;
  /** Aborted when the owner has cancelled it: calls that have begun are waited for. */
  readonly cancelling: AbortSignal;
}

/** Brings a batch from the status that it has to its end, and tells that. Throws what may pass by itself. */
export async function advance(running: Advancing, batch: Batch): Promise<void> {
  if (batch.endedAt === null) await bringToEnd(running, batch);
  const { store, parts } = running;
  const ended = await store.find(batch.id);
  if (ended === undefined || ended.endedAt === null) return;
  const { id, status, endedAt } = ended;
  await store.dropLines(id);
  await parts.publishEvent?.({ id, type: `batch.${status}`, at: endedAt, data: { id } });
  await store.announced(id);
  parts.logger.info({ batch: id, status }, 'a batch has ended');
}

async function bringToEnd(running: Advancing, batch: Batch): Promise<void> {
  const { store, holder, signal } = running;
  let { status } = batch;
  if (status === 'validating') {
    if (!(await load(running, batch))) return;
    status = 'in_progress';
  }
  if (status === 'in_progress') {
    await runLines(running, batch);
    signal.throwIfAborted();
    const isOver = await store.change(batch.id, holder, 'in_progress', { status: 'finalizing' });
    status = isOver ? 'finalizing' : 'cancelling';
  } else if (status === 'cancelling') {
    await runLines(running, batch);
    signal.throwIfAborted();
  }
  await store.change(batch.id, holder, status, await storeAllResults(running, batch, status));
}

/** The results of a batch as files; where they can't be stored for a reason that stays, it has failed. */
async function storeAllResults({ parts, store, signal }: Advancing, batch: Batch, status: BatchStatus) {
  const writing = { parts, store, batch, signal };
  try {
    const outputFile = await storeResults(writing, 'output');
    const errorFile = await storeResults(writing, 'error');
    return { status: status === 'finalizing' ? 'completed' : 'cancelled', outputFile, errorFile } as const;
  } catch (error) {
    return { status: 'failed', problems: listProblems(error) } as const;
  }
}

/** What stays wrong, in words for the owner. Throws what may pass by itself. */
function listProblems(error: unknown): readonly BatchProblem[] {
  if (error instanceof BadBatch) return error.problems;
  if (!(error instanceof AppError) || PASSING.has(error.code)) throw error;
  return [{ code: error.code.toLowerCase(), message: error.message, param: null, line: null }];
}

const PASSING: ReadonlySet<AppErrorCode> = new Set([
  'UNAVAILABLE',
  'RATE_LIMITED',
  'QUEUE_FULL',
  'NOT_CONFIGURED',
  'INTERNAL',
]);

/** Stores the calls of the input file; false when it is no batch, or was cancelled meanwhile. */
async function load({ store, holder, parts, signal }: Advancing, batch: Batch): Promise<boolean> {
  try {
    const { media } = await runDocument(
      { executor: parts.executor, context: createOwnerContext(batch, signal) },
      FaceFileById,
      { id: batch.inputFile },
    );
    if (media === null)
      throw new BadBatch([
        { code: 'not_found', message: 'The input file is gone.', param: 'input_file_id', line: null },
      ]);
    let total = 0;
    let chunk: BatchLine[] = [];
    const flush = async (): Promise<void> => {
      if (chunk.length > 0) await store.addLines(batch.id, chunk);
      total += chunk.length;
      chunk = [];
    };
    for await (const line of readLines(await openFile(parts, media.url), batch.endpoint)) {
      signal.throwIfAborted();
      if (chunk.push(line) === CHUNK) await flush();
    }
    await flush();
    if (await store.change(batch.id, holder, 'validating', { status: 'in_progress', total })) return true;
    await store.change(batch.id, holder, 'cancelling', { status: 'cancelled' });
  } catch (error) {
    await store.change(batch.id, holder, 'validating', { status: 'failed', problems: listProblems(error) });
  }
  return false;
}

/** First and longest pause before the calls that go on in a vendor's batch are looked at again, in milliseconds. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;

/** Runs the calls that have not ended, in rounds, as some go on in batches of their vendors. */
async function runLines(running: Advancing, batch: Batch): Promise<void> {
  const { signal, cancelling } = running;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5)) {
    const wasCancelling = cancelling.aborted;
    const goingOn = await runRound(running, batch);
    signal.throwIfAborted();
    if (goingOn === 0) return;
    // What goes on is cancelled at once, and then awaited.
    const awake = wasCancelling ? signal : AbortSignal.any([signal, cancelling]);
    await pause(wasCancelling ? FIRST_PAUSE_MS : pauseMs, undefined, { signal: awake }).catch(
      () => undefined,
    );
  }
}

/** One round over them, each in a slot that all batches share: how many go on. Once it is cancelled none begins. */
async function runRound(running: Advancing, batch: Batch): Promise<number> {
  const { store, slots, parts, signal, cancelling } = running;
  const begun = new Set<Promise<void>>();
  let failure: unknown = null;
  let goingOn = 0;
  const isOver = (): boolean => signal.aborted || failure !== null;
  const run = async (line: BatchLine): Promise<void> => {
    const outcome = await runLine(parts, batch, line, { signal, cancelling });
    if (outcome === null) goingOn += 1;
    else await store.endLine(batch.id, line.index, outcome);
  };
  for (let after = -1; !isOver();) {
    const page = await store.openLines(batch.id, after);
    for (const line of page) {
      after = line.index;
      if (cancelling.aborted && line.task == null) continue;
      const leave = await slots.enter(signal);
      if (isOver() || (cancelling.aborted && line.task == null)) {
        leave();
        break;
      }
      const work = run(line)
        .catch((error: unknown) => (failure ??= error))
        .finally(() => {
          begun.delete(work);
          leave();
        }) as Promise<void>;
      begun.add(work);
    }
    if (page.length === 0) break;
  }
  await Promise.all(begun);
  signal.throwIfAborted();
  if (failure !== null) throw failure;
  return goingOn;
}
