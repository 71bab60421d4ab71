import { AppError, toError } from '../../../../platform/errors.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import type { MediaDatabase } from '../../database/database.ts';
import type { Binding } from '../../generators/bindings/binding.ts';
import { countQueued, readQueues } from '../storage/step-store.ts';

/**
 * The length of each binding's queue, and the positions in it. Both are snapshots, refreshed about once a second and only
 * when they are read; no submission and no read counts rows by itself.
 */
export type QueueLengths = ReturnType<typeof createQueueLengths>;

export interface QueueLengthOptions {
  readonly database: MediaDatabase;
  readonly logger: Logger;
}

/** Age in milliseconds at which a snapshot is refreshed. */
const REFRESH_MS = 1_000;

/** Most queued tasks whose positions are known; those behind them have none yet. */
const MAX_POSITIONS = 5_000;

/** Makes the snapshots of this process. */
export function createQueueLengths({ database, logger }: QueueLengthOptions) {
  const reserved = createCounters();
  /** Written by this process since the snapshot began; it may already include them, so they count twice at worst. */
  const written = createCounters();
  const lengths = createSnapshot(REFRESH_MS, new Map<string, number>(), async () => {
    const before = written.copy();
    const counted = new Map((await countQueued(database)).map((row) => [row.binding, row.waiting]));
    for (const [binding, steps] of before) written.add(binding, -steps);
    return counted;
  });
  const positions = createSnapshot(REFRESH_MS, new Map<string, number>(), () => readPositions(database));
  return {
    /** Reserves room for `steps` more, or throws QUEUE_FULL. Every reservation must be settled. */
    async reserve(binding: Binding, steps: number): Promise<void> {
      const counted = (await lengths.fresh()).get(binding.id) ?? 0;
      const waiting = counted + reserved.of(binding.id) + written.of(binding.id);
      if (waiting + steps > binding.maxWaiting) {
        throw new AppError(
          'QUEUE_FULL',
          `too much work is waiting for "${binding.generator}"; try again later`,
          { retryAfter: 5 },
        );
      }
      reserved.add(binding.id, steps);
    },
    /** Ends a reservation, whose submission was written or was not. */
    settle(binding: Binding, steps: number, wasWritten: boolean): void {
      reserved.add(binding.id, -steps);
      if (wasWritten) written.add(binding.id, steps);
    },
    /**
     * Position of a queued task (1 = next) when owners are served in turn, as of the last snapshot; null when it is
     * not in it.
     */
    position(taskId: string): number | null {
      positions.refresh((error) =>
        logger.warn({ error: toError(error) }, 'queue positions could not be read'),
      );
      return positions.latest().get(taskId) ?? null;
    },
  };
}

/** Counters by name that are never negative; those at 0 are removed. */
function createCounters() {
  const numbers = new Map<string, number>();
  return {
    of: (name: string) => numbers.get(name) ?? 0,
    copy: () => [...numbers],
    add(name: string, change: number): void {
      const number = (numbers.get(name) ?? 0) + change;
      if (number > 0) numbers.set(name, number);
      else numbers.delete(name);
    },
  };
}

async function readPositions(database: MediaDatabase): Promise<Map<string, number>> {
  const positions = new Map<string, number>();
  for (const { taskIds } of await readQueues(database, MAX_POSITIONS)) {
    for (const [index, taskId] of taskIds.entries())
      positions.set(taskId, positions.get(taskId) ?? index + 1);
  }
  return positions;
}

/** How much longer than reading a value took it is kept at least, so that reading it is a small part of what is done. */
const KEPT_FACTOR = 20;

/** A value that is refreshed when it is read and old. One refresh at a time. */
function createSnapshot<Value>(maxAgeMs: number, initial: Value, read: () => Promise<Value>) {
  let value = initial;
  let takenAt = -Infinity;
  let reading: Promise<Value> | null = null;
  let tookMs = 0;
  const isOld = () => performance.now() - takenAt >= Math.max(maxAgeMs, tookMs * KEPT_FACTOR);
  const take = (): Promise<Value> => {
    const begunAt = performance.now();
    reading ??= read()
      .then((fresh) => {
        takenAt = performance.now();
        tookMs = takenAt - begunAt;
        return (value = fresh);
      })
      .finally(() => (reading = null));
    return reading;
  };
  return {
    latest: () => value,
    /** The value, at most `maxAgeMs` old. */
    fresh: async () => (isOld() ? take() : value),
    /** Reads in the background when the value is old. */
    refresh(onError: (error: unknown) => void): void {
      if (isOld() && reading === null) take().catch(onError);
    },
  };
}
