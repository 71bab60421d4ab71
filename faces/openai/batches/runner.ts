import { randomUUID } from 'node:crypto';

import type { Batch } from '../batch-store/batch.ts';
import { type BatchStore, LEASE_SECONDS } from '../batch-store/store.ts';
import type { FaceParts } from '../table/route.ts';
import { advance } from './advance.ts';
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
/** Milliseconds between two checks for batches. */
const POLL_INTERVAL_MS = 2_000;
/** Looks after which old batches are forgotten: about an hour. */
const LOOKS_PER_SWEEP = 1_800;
/** Days for which a batch that has ended is known. */
const KEPT_DAYS = 30;

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
  let isLooking = false;
  const tryLook = (): void => {
    if (isLooking || signal.aborted) return;
    isLooking = true;
    void look()
      .catch((error: unknown) => logger.warn({ error }, 'batches can not be looked for'))
      .finally(() => (isLooking = false));
  };
  const timer = setInterval(tryLook, POLL_INTERVAL_MS);
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
  if (batch.status === 'cancelling') cancelling.abort();
  const keep = async (): Promise<void> => {
    const status = await store.keep(batch.id, holder);
    if (status === undefined) lost.abort();
    if (status === 'cancelling') cancelling.abort();
  };
  const heartbeat = setInterval(() => void keep().catch(() => undefined), (LEASE_SECONDS * 1_000) / 3);
  heartbeat.unref();
  try {
    await advance(
      { parts, store, holder, slots: running.slots, signal, cancelling: cancelling.signal },
      batch,
    );
  } catch (error) {
    // At a stop another process goes on at once; after a failure whoever comes when the lease has run out.
    if (signal.aborted) await store.release(batch.id, holder).catch(() => undefined);
    else parts.logger.error({ error, batch: batch.id }, 'a batch broke off, and is tried again');
  } finally {
    clearInterval(heartbeat);
  }
}
