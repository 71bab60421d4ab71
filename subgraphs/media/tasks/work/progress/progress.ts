import type { StepPlanner } from '../../../domain/task.ts';
import { type StageWords, formatStage } from '../../../domain/words/stages.ts';
import type { JobStatus } from '../../../providers/contract/provider.ts';
import type { DueAttempt } from '../../storage/poll-store.ts';
import { type ProgressReport, toPercent } from './progress-writer.ts';

/** What a status answer means for the task's progress. Pure. */

type OpenStatus = Exclude<JobStatus, { state: 'finished' | 'failed' }>;

/** Seconds after which an estimate has come about two thirds of its way, where nothing is known of the usual duration. */
const UNKNOWN_SECONDS = 30;
/** Where an estimate is after the usual duration; the rest is for what takes longer. */
const USUAL_TOP = 90;
const TOP = 99;
/** An estimate is told when it has grown by so much: finer ones say nothing more, and each is a number in the task's log. */
const ESTIMATE_STEP = 3;

/** What a report is made with. */
export interface Reporting {
  readonly planner: Pick<StepPlanner, 'progress'>;
  /** How long such work usually takes; null when that is not known. */
  readonly usualSeconds: number | null;
}

/** The report that follows from a status, or null when the newest event says the same already. */
export function createReport(
  { planner, usualSeconds }: Reporting,
  due: DueAttempt,
  status: OpenStatus,
): ProgressReport | null {
  // The upstream's own stream is more exact than our estimate.
  if (due.watched && due.taskProgress > 0 && isEstimate(status)) return null;
  const own = ownProgress(due, status, usualSeconds);
  const progress = toPercent(taskProgress(planner, due, own));
  const stage = formatStage(due, stageText(status));
  const least = isEstimate(status) ? ESTIMATE_STEP : 1;
  if (stage === due.taskStage && progress < due.taskProgress + least) return null;
  return {
    taskId: due.taskId,
    step: due.step,
    stage,
    progress,
    estimated: isEstimate(status),
    stepProgress: due.recipe === null ? null : own,
  };
}

function isEstimate(status: OpenStatus): boolean {
  return status.state === 'running' && status.progress === null;
}

function ownProgress(due: DueAttempt, status: OpenStatus, usualSeconds: number | null): number {
  if (status.state === 'queued') return 0;
  return toPercent(status.progress ?? progressBy(due.runningSeconds, usualSeconds));
}

function taskProgress(
  planner: Pick<StepPlanner, 'progress'>,
  { recipe, step }: DueAttempt,
  own: number,
): number {
  if (recipe === null) return own;
  const steps = recipe.steps.map((entry) =>
    entry.step === step ? { ...entry, progress: Math.max(entry.progress, own) } : entry,
  );
  return planner.progress(recipe.work, steps);
}

/** The estimate after so many seconds: even over the usual duration, then ever slower, so that it grows as long as it takes. */
export function progressBy(seconds: number, usualSeconds: number | null): number {
  if (usualSeconds === null || usualSeconds <= 0)
    return USUAL_TOP * (1 - Math.exp(-seconds / UNKNOWN_SECONDS));
  if (seconds <= usualSeconds) return (USUAL_TOP * seconds) / usualSeconds;
  return TOP - (TOP - USUAL_TOP) * Math.exp(1 - seconds / usualSeconds);
}

function stageText(status: OpenStatus): StageWords {
  if (status.stage !== undefined) return status.stage;
  if (status.state === 'running') return 'rendering';
  return status.position === undefined ? 'queued upstream' : `queued upstream, position ${status.position}`;
}
