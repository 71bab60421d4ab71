import { AppError } from '../errors.ts';
import { distinctIds } from '../ids.ts';

/**
 * Batches concurrent reads by id into one statement. Thousands of callers who poll for a state then cost a few
 * statements and at most `maxRunning` connections. DataLoader neither limits running batches nor waiting callers.
 */
export interface BatchedReadOptions<Row> {
  /** Reads the rows of distinct ids, in any order; ids without a row are left out. */
  readonly read: (ids: readonly string[]) => Promise<readonly Row[]>;
  readonly readId: (row: Row) => string;
  /** Most ids in one statement, unless a single request names more (default 500). */
  readonly maxIds?: number;
  /**
   * Most statements at the same time (default 2). While one for many requests runs, others gather for the next one: large
   * batches cost both sides less. A statement that takes long is not waited for.
   */
  readonly maxRunning?: number;
  /** Most waiting requests; beyond it UNAVAILABLE (default 10,000). */
  readonly maxWaiting?: number;
}

/** Returns the rows by their id. Sees what was committed before the call: no statement starts before its requests. */
export type BatchedRead<Row> = (ids: readonly string[]) => Promise<ReadonlyMap<string, Row>>;

/** The rows of these ids by a batched read, in their order and each once; ids in any case, those without a row left out. */
export async function readDistinct<Row>(read: BatchedRead<Row>, ids: readonly string[]): Promise<Row[]> {
  const known = distinctIds(ids);
  const found = await read(known);
  return known.flatMap((id) => found.get(id) ?? []);
}

interface Request<Row> {
  readonly ids: readonly string[];
  readonly resolve: (rows: ReadonlyMap<string, Row>) => void;
  readonly reject: (error: unknown) => void;
}

/** Most requests of a statement beside which another one starts at once. */
const FEW = 2;
/** Milliseconds that a statement for many requests holds back the next one. */
const BATCH_WINDOW_MS = 50;

/** Batches a read. All requests of a statement get the same row objects, and the same error. */
export function batchReads<Row>(options: BatchedReadOptions<Row>): BatchedRead<Row> {
  const { read, readId, maxIds = 500, maxRunning = 2, maxWaiting = 10_000 } = options;
  let waiting: Request<Row>[] = [];
  let running = 0;
  let isScheduled = false;
  let gathersUntil = 0;
  let timer: NodeJS.Timeout | undefined;

  // After this turn of the event loop, so that all its requests are in the batch.
  const schedule = (): void => {
    if (isScheduled || running >= maxRunning || waiting.length === 0) return;
    const gatherMs = running > 0 ? gathersUntil - performance.now() : 0;
    if (gatherMs > 0) return scheduleIn(gatherMs);
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      void run(takeBatch());
      schedule();
    });
  };
  const scheduleIn = (ms: number): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      schedule();
    }, ms).unref();
  };
  const takeBatch = (): readonly Request<Row>[] => {
    let ids = 0;
    const end = waiting.findIndex((request, index) => (ids += request.ids.length) > maxIds && index > 0);
    const batch = end === -1 ? waiting : waiting.slice(0, end);
    waiting = end === -1 ? [] : waiting.slice(end);
    return batch;
  };
  const run = async (batch: readonly Request<Row>[]): Promise<void> => {
    running += 1;
    gathersUntil = batch.length > FEW ? performance.now() + BATCH_WINDOW_MS : 0;
    try {
      const rows = await read([...new Set(batch.flatMap(({ ids }) => ids))]);
      const byId = new Map(rows.map((row) => [readId(row), row]));
      for (const { resolve } of batch) resolve(byId);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      running -= 1;
      schedule();
    }
  };

  return (ids) => {
    if (ids.length === 0) return Promise.resolve(new Map());
    if (waiting.length >= maxWaiting) {
      return Promise.reject(
        new AppError('UNAVAILABLE', 'too many requests are waiting; try again', { retryAfter: 1 }),
      );
    }
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, Row>>();
    waiting.push({ ids, resolve, reject });
    schedule();
    return promise;
  };
}
