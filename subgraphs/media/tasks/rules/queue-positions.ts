import { AppError, toError } from '../../../../platform/errors.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import type { MediaDatabase } from '../../database/database.ts';
import type { Binding } from '../../generators/bindings/binding.ts';
import { countLines, readLines } from '../storage/step-store.ts';

/**
 * How long each binding's waiting line is, and who stands where. Both are snapshots, refreshed about once a second and
 * only while somebody asks; no submission and no read counts rows by itself.
 */
export interface WaitingLines {
  /** Throws QUEUE_FULL when the line has no room for `steps` more; else takes the places. Settle them in any case. */
  enter(binding: Binding, steps: number): Promise<void>;
  /** The submission behind taken places was written, or was not. */
  settle(binding: Binding, steps: number, written: boolean): void;
  /** Place of a waiting task (1 = next), as of the last snapshot; null when it is not in it. */
  position(taskId: string): number | null;
}

export interface WaitingLinesOptions {
  readonly database: MediaDatabase;
  readonly logger: Logger;
  /** Age in milliseconds at which a snapshot is taken anew (default 1,000). */
  readonly refreshMs?: number;
}

/** Most waiting tasks whose places are known; those behind them have no place yet. */
const MAX_PLACES = 5_000;

/** Makes it; lengths are counted anew every `refreshMs` (milliseconds). */
export function createWaitingLines({
  database,
  logger,
  refreshMs = 1_000,
}: WaitingLinesOptions): WaitingLines {
  const entering = createTally();
  /** Written by this process since the snapshot was begun: perhaps in it, perhaps not. Counted twice at worst. */
  const written = createTally();
  const lengths = createSnapshot(refreshMs, new Map<string, number>(), async () => {
    const before = written.copy();
    const counted = new Map((await countLines(database)).map((line) => [line.binding, line.waiting]));
    for (const [binding, steps] of before) written.add(binding, -steps);
    return counted;
  });
  const places = createSnapshot(refreshMs, new Map<string, number>(), () => placesOf(database));
  return {
    async enter(binding, steps) {
      const counted = (await lengths.fresh()).get(binding.id) ?? 0;
      const waiting = counted + entering.of(binding.id) + written.of(binding.id);
      if (waiting + steps > binding.maxWaiting) {
        throw new AppError(
          'QUEUE_FULL',
          `too much work is waiting for "${binding.generator}"; try again later`,
          { retryAfter: 5 },
        );
      }
      entering.add(binding.id, steps);
    },
    settle(binding, steps, wasWritten) {
      entering.add(binding.id, -steps);
      if (wasWritten) written.add(binding.id, steps);
    },
    position(taskId) {
      places.refresh((error) => logger.warn({ error: toError(error) }, 'waiting lines could not be read'));
      return places.latest().get(taskId) ?? null;
    },
  };
}

/** Numbers by name that are never negative; one that is 0 takes no room. */
function createTally() {
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

async function placesOf(database: MediaDatabase): Promise<Map<string, number>> {
  const places = new Map<string, number>();
  for (const { task_ids } of await readLines(database, MAX_PLACES)) {
    for (const [index, taskId] of task_ids.entries()) places.set(taskId, places.get(taskId) ?? index + 1);
  }
  return places;
}

/** A value that is read anew when it is asked for and old. One read at a time. */
function createSnapshot<Value>(maxAgeMs: number, initial: Value, read: () => Promise<Value>) {
  let value = initial;
  let takenAt = -Infinity;
  let reading: Promise<Value> | null = null;
  const isOld = () => performance.now() - takenAt >= maxAgeMs;
  const take = (): Promise<Value> => {
    reading ??= read()
      .then((taken) => {
        takenAt = performance.now();
        return (value = taken);
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
