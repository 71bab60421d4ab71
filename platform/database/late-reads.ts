import { AppError, toError } from '../errors.ts';
import type { Logger } from '../process/logger.ts';
import type { Database } from './database.ts';

/** Reads that may be late by a bound: lists, totals, the audit log. */
export interface LateReads {
  /**
   * Runs a read at the standby while that is known to be late by no more than the bound, else at the primary; and at the primary where
   * the standby fails it. It may run twice, so it must only read.
   */
  readonly read: <Answer>(work: (database: Database) => Promise<Answer>) => Promise<Answer>;
  /** Milliseconds that the standby may lack, as it was last seen; null where that is not known or there is none. */
  readonly lateMs: () => number | null;
}

export interface LateReadsOptions {
  readonly primary: Database;
  /** A pool to a physical standby of it; null: all reads are of the primary. */
  readonly standby: Database | null;
  /** Most milliseconds that a read may lack. */
  readonly maxLateMs: number;
  readonly logger: Logger;
}

/** Milliseconds between two checks at how far the standby is, while there are reads. */
const POLL_INTERVAL_MS = 500;
/** Looks that are remembered: those of the longest bound. */
const MAX_SAMPLES = 1_000;
/** Least milliseconds between two lines of the log about a standby that is not used. */
const LOG_PAUSE_MS = 60_000;

/** Up to where the primary had written at a moment. */
interface Sample {
  readonly at: number;
  readonly position: number;
}

/** Makes the reads. Nothing is asked of the standby while nobody reads. */
export function createLateReads(options: LateReadsOptions): LateReads {
  const { primary, standby, maxLateMs, logger } = options;
  if (standby === null) return { read: (work) => work(primary), lateMs: () => null };
  let samples: readonly Sample[] = [];
  /** The latest moment of which the standby is known to have everything. */
  let coveredAt = -Infinity;
  let lookedAt = -Infinity;
  let loggedAt = -Infinity;
  const lateMs = (): number => performance.now() - coveredAt;
  const unusable = (reason: string): void => {
    coveredAt = -Infinity;
    if (performance.now() - loggedAt < LOG_PAUSE_MS) return;
    loggedAt = performance.now();
    logger.warn({ reason }, 'the standby is not read: its reads are of the primary');
  };
  const look = async (): Promise<void> => {
    const at = performance.now();
    lookedAt = at;
    try {
      const sample = { at, position: await writtenBy(primary) };
      const replayed = await replayedBy(standby);
      samples = [...samples, sample].slice(-MAX_SAMPLES);
      const covered = samples.findLast(({ position }) => position <= replayed);
      if (covered !== undefined) samples = samples.slice(samples.indexOf(covered));
      coveredAt = covered?.at ?? coveredAt;
      if (lateMs() > maxLateMs) unusable(`it is late by more than ${maxLateMs} ms`);
    } catch (thrown) {
      unusable(toError(thrown).message);
    }
  };
  return {
    lateMs: () => (coveredAt === -Infinity ? null : lateMs()),
    async read(work) {
      if (performance.now() - lookedAt > POLL_INTERVAL_MS) void look();
      if (lateMs() > maxLateMs) return work(primary);
      try {
        return await work(standby);
      } catch (thrown) {
        // What the caller did wrong is wrong there, too.
        if (thrown instanceof AppError && thrown.code !== 'UNAVAILABLE') throw thrown;
        unusable(toError(thrown).message);
        return work(primary);
      }
    },
  };
}

/** Bytes of the log of changes that the primary has written. */
async function writtenBy({ pool }: Database): Promise<number> {
  const { rows } = await pool.query<{ position: number }>(
    `/* standby.written */ select (pg_current_wal_insert_lsn() - '0/0')::float8 as position`,
  );
  return rows[0]?.position ?? Infinity;
}

/** Bytes of it that the standby has applied. Throws where the server is no standby. */
async function replayedBy({ pool }: Database): Promise<number> {
  const { rows } = await pool.query<{ position: number | null }>(
    `/* standby.replayed */ select (pg_last_wal_replay_lsn() - '0/0')::float8 as position where pg_is_in_recovery()`,
  );
  const position = rows[0]?.position;
  if (position == null) throw new Error('DATABASE_READ_URL is no standby of a primary');
  return position;
}
