import { randomUUID } from 'node:crypto';

import { runDocument } from '../../../rest-compat/replies/results.ts';
import { openFile } from '../answers/files.ts';
import type { Batch, BatchLine } from '../batch-store/batch.ts';
import { type BatchStore, LEASE_SECONDS } from '../batch-store/store.ts';
import { FaceFileById } from '../documents/file.ts';
import type { FaceParts } from '../table/route.ts';
import { BadBatch, linesOf } from './input-lines.ts';
import { contextOf } from './owner.ts';
import { storeResults } from './results.ts';
import { runLine } from './run-line.ts';
import { createSlots, type Slots } from './slots.ts';

/** Runs batches, a few calls at a time, and goes on with those of processes that are gone. */
export interface BatchRunner {
  /** Looks for batches now: there is a new one. */
  wake(): void;
  /** Begins no more calls, and lets go of the batches; another process goes on with them. */
  stop(): Promise<void>;
}

/** What the runner works with. */
export interface RunnerOptions {
  readonly parts: FaceParts;
  readonly store: BatchStore;
  /** Calls of all batches at once in this process (OPENAI_BATCH_CONCURRENCY): callers who wait stand behind no more. */
  readonly concurrency: number;
}

/** Batches that one process runs at once, which take turns. */
const MOST_BATCHES = 8;
/** Milliseconds between two looks for batches. */
const LOOK_MS = 2_000;
/** Looks after which old batches are forgotten: about an hour. */
const LOOKS_PER_SWEEP = 1_800;
/** Days for which a batch that has ended is known. */
const KEPT_DAYS = 30;
/** Calls that are stored at once. */
const CHUNK = 500;

interface Running extends RunnerOptions {
  readonly slots: Slots;
  readonly holder: string;
  readonly signal: AbortSignal;
}

/** Begins to run batches. */
export function startBatchRunner(options: RunnerOptions): BatchRunner {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running: Running = {
    ...options,
    slots: createSlots(options.concurrency),
    holder: randomUUID(),
    signal,
  };
  const open = new Set<Promise<void>>();
  let looks = 0;
  const look = async (): Promise<void> => {
    if (looks++ % LOOKS_PER_SWEEP === 0) await options.store.forgetOld(KEPT_DAYS);
    while (!signal.aborted && open.size < MOST_BATCHES) {
      const batch = await options.store.claim(running.holder);
      if (batch === undefined) return;
      const work = runBatch(running, batch).finally(() => open.delete(work));
      open.add(work);
    }
  };
  const { logger } = options.parts;
  const tryLook = () =>
    void look().catch((error: unknown) => logger.warn({ error }, 'batches can not be looked for'));
  const timer = setInterval(tryLook, LOOK_MS);
  timer.unref();
  tryLook();
  return {
    wake: tryLook,
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await Promise.allSettled(open);
    },
  };
}

/** Runs a batch while this process has it. Never throws. */
async function runBatch(running: Running, batch: Batch): Promise<void> {
  const { store, holder, parts } = running;
  const lost = new AbortController();
  const signal = AbortSignal.any([running.signal, lost.signal]);
  const cancelling = new AbortController();
  const keep = async (): Promise<void> => {
    const status = await store.keep(batch.id, holder);
    if (status === undefined) lost.abort();
    if (status === 'cancelling') cancelling.abort();
  };
  const heartbeat = setInterval(() => void keep().catch(() => undefined), (LEASE_SECONDS * 1_000) / 3);
  heartbeat.unref();
  try {
    await advance({ ...running, signal, cancelling: cancelling.signal }, batch);
  } catch (error) {
    if (!signal.aborted)
      parts.logger.error({ error, batch: batch.id }, 'a batch broke off, and is tried again');
  } finally {
    clearInterval(heartbeat);
    await store.release(batch.id, holder).catch(() => undefined);
  }
}

interface Advancing extends Running {
  /** Aborted when the owner has cancelled it: calls that have begun are waited for. */
  readonly cancelling: AbortSignal;
}

/** From the status that a batch has to its end. */
async function advance(running: Advancing, batch: Batch): Promise<void> {
  const { store, holder, parts, signal } = running;
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
  }
  const writing = { parts, store, batch, signal };
  const outputFile = await storeResults(writing, 'output');
  const errorFile = await storeResults(writing, 'error');
  const end = status === 'finalizing' ? 'completed' : 'cancelled';
  if (await store.change(batch.id, holder, status, { status: end, outputFile, errorFile })) {
    await store.dropLines(batch.id);
    parts.logger.info({ batch: batch.id, status: end }, 'a batch has ended');
  }
}

/** Stores the calls of the input file; false when it is no batch, or was cancelled meanwhile. */
async function load({ store, holder, parts, signal }: Advancing, batch: Batch): Promise<boolean> {
  try {
    const { media } = await runDocument(
      { executor: parts.executor, context: contextOf(batch, signal) },
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
    for await (const line of linesOf(await openFile(parts, media.url), batch.endpoint)) {
      signal.throwIfAborted();
      if (chunk.push(line) === CHUNK) await flush();
    }
    await flush();
    if (await store.change(batch.id, holder, 'validating', { status: 'in_progress', total })) return true;
    return await store.change(batch.id, holder, 'cancelling', { status: 'cancelled' }).then(() => false);
  } catch (error) {
    if (!(error instanceof BadBatch)) throw error;
    await store.dropLines(batch.id);
    await store.change(batch.id, holder, 'validating', { status: 'failed', problems: error.problems });
    return false;
  }
}

/** Runs the calls that have not ended, each in a slot that all batches share. */
async function runLines(running: Advancing, batch: Batch): Promise<void> {
  const { store, slots, parts, signal, cancelling } = running;
  const begun = new Set<Promise<void>>();
  let failure: unknown = null;
  const isOver = (): boolean => signal.aborted || cancelling.aborted || failure !== null;
  const run = async (line: BatchLine): Promise<void> => {
    await store.endLine(batch.id, line.index, await runLine(parts, batch, line, signal));
  };
  for (let after = -1; !isOver();) {
    const page = await store.openLines(batch.id, after);
    for (const line of page) {
      const leave = await slots.enter(signal);
      if (isOver()) {
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
      after = line.index;
    }
    if (page.length === 0) break;
  }
  await Promise.all(begun);
  signal.throwIfAborted();
  if (failure !== null) throw failure;
}
