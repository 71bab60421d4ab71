import { Readable } from 'node:stream';

import { toError } from '../../../../../platform/errors.ts';
import type { Logger } from '../../../../../platform/process/logger.ts';
import type { MediaDatabase } from '../../../database/database.ts';
import { type Stage, type StageWords, withPreview } from '../../../domain/words/stages.ts';
import type { FileService } from '../../../files/files.ts';
import { lockOpenTasks } from '../../storage/event-store.ts';
import { raiseStepProgress } from '../../storage/step-store.ts';
import type { Transactor } from '../../storage/transactor.ts';

/** Progress of a running step. */
export interface ProgressReport {
  readonly taskId: string;
  readonly step: number;
  readonly stage: Stage;
  /** Of the whole task; stored as a whole number up to 99. */
  readonly progress: number;
  readonly estimated: boolean;
  /** Of this step alone, where the task has several; stored likewise. */
  readonly stepProgress: number | null;
}

/**
 * Progress as it is stored: a whole number, since a fraction has the database refuse all reports of the statement; below 100, which is
 * the end's.
 */
export function toPercent(progress: number): number {
  return Math.round(Math.min(99, Math.max(0, progress)));
}

/**
 * Collects progress and appends it in one statement every 100 ms. A report that has no number yet is replaced by
 * a newer one of its task; once numbered, an entry stays. Reports of a step that no longer runs are dropped by the
 * statement itself, so a late flush never follows "storing result".
 */
export type ProgressWriter = ReturnType<typeof createProgressWriter>;

export interface ProgressWriterOptions {
  readonly database: MediaDatabase;
  readonly transactor: Transactor;
  readonly logger: Logger;
  /** Pause between flushes in milliseconds. */
  readonly flushMs?: number;
}

/** Most tasks in one statement; more wait for the next flush. */
const MAX_BATCH = 500;

/** Makes the writer; reports are written every `flushMs` (milliseconds, default 100). */
export function createProgressWriter(options: ProgressWriterOptions) {
  const { flushMs = 100, logger } = options;
  const pending = new Map<string, ProgressReport>();
  let timer: NodeJS.Timeout | null = null;
  let flushing: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    while (pending.size > 0) {
      const batch = [...pending.values()].slice(0, MAX_BATCH);
      for (const report of batch) pending.delete(report.taskId);
      await write(options, batch);
    }
  }
  function schedule(): void {
    timer ??= setTimeout(() => {
      // A flush that failed costs only progress: the next poll brings newer one.
      flushing = flushing
        .then(flush)
        .catch((error: unknown) => logger.warn({ error: toError(error) }, 'progress could not be written'))
        .finally(() => {
          timer = null;
          if (pending.size > 0) schedule();
        });
    }, flushMs);
  }
  return {
    report(report: ProgressReport): void {
      pending.set(report.taskId, report);
      schedule();
    },
    /** Writes a report at once, which no newer one takes the place of; after older ones of its task, or in place of them. */
    async write(report: ProgressReport): Promise<void> {
      pending.delete(report.taskId);
      await flushing;
      await write(options, [report]);
    },
    /** Writes the pending reports and stops. */
    async close(): Promise<void> {
      if (timer !== null) clearTimeout(timer);
      await flushing;
      await flush();
      if (timer !== null) clearTimeout(timer);
    },
  };
}

async function write(
  { database, transactor }: ProgressWriterOptions,
  batch: readonly ProgressReport[],
): Promise<void> {
  const events = batch.map(({ taskId, step, stage, progress, estimated }) => ({
    taskId,
    stage,
    progress: toPercent(progress),
    estimated,
    runningStep: step,
  }));
  await transactor.run(async (scope) => {
    // By a statement of its own, which may wait for a step's end: the next statement sees that the step has ended.
    await lockOpenTasks(
      scope.transaction,
      batch.map(({ taskId }) => taskId),
    );
    await scope.append(events);
  });
  const steps = batch.flatMap(({ taskId, step, stepProgress }) =>
    stepProgress === null ? [] : [{ taskId, step, progress: toPercent(stepProgress) }],
  );
  await raiseStepProgress(database, steps);
}

/** Parts of images that upstreams send while they work, as files for an hour. */

interface PreviewDependencies {
  readonly files: Pick<FileService, 'store'>;
  readonly logger: Logger;
}

/** Largest part of an image in bytes. */
const MAX_PREVIEW = 64 << 20;

/** Stores a part of an image, and calls `write` with the stage that names it. Never rejects: the image itself is still to come. */
export async function storePreview(
  { files, logger }: PreviewDependencies,
  { image, owner, taskId }: { readonly image: Buffer; readonly owner: string; readonly taskId: string },
  write: (previewed: (stage: StageWords) => StageWords) => Promise<void>,
): Promise<void> {
  try {
    const { id } = await files.store({
      owner,
      body: Readable.from([image], { objectMode: false }),
      name: 'preview',
      declaredType: null,
      temporary: true,
      maxBytes: MAX_PREVIEW,
      listed: false,
    });
    await write((stage) => withPreview(stage, id));
  } catch (error) {
    logger.warn({ error: toError(error), task: taskId }, 'a part of an image could not be shown');
  }
}
