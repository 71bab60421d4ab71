import { newId } from '../../../../../platform/ids.ts';
import type { Job, JobOutcome } from '../../../../../platform/queue/queue.ts';
import { withSpan } from '../../../../../platform/tracing/span.ts';
import { toFailure, UpstreamError } from '../../../domain/failure.ts';
import { formatStage } from '../../../domain/words/stages.ts';
import type { WorkRequest } from '../../../domain/work/request.ts';
import type { Binding } from '../../../generators/bindings/binding.ts';
import { learnModel } from '../../../generators/bindings/find-models.ts';
import { isUsable } from '../../../generators/limits/limits.ts';
import { START_LOST } from '../../rules/failures.ts';
import type { StepJob } from '../../rules/queues.ts';
import { readRoom } from '../../storage/slot-store.ts';
import { attemptSpan, findJob, toAttemptKey, type AttemptContext } from '../attempts/attempt-context.ts';
import { endAttempt } from '../attempts/end-attempt.ts';
import type { CallRunner } from './call-runner.ts';
import { holdClaim, now, takeClaim } from './claim.ts';
import { type InputDependencies, fetchesInput, prepareRequest } from './input-files.ts';
import { openAttempt, reroute } from './open-attempt.ts';
import { startJob, type StartDependencies } from './start-job.ts';

/** The work behind a start job: at most one start per attempt (docs/decisions/2026-11-20-at-most-once-starts.md). */
export interface StartWorkerOptions extends StartDependencies, InputDependencies {
  readonly calls: CallRunner;
  /** Aborted when this worker is about to stop: starts that it has not sent are left to others at once. */
  readonly leaving: AbortSignal;
  /** Receives bindings that start less until results are stored. */
  readonly unstored: { wait(bindingId: string): void };
}

/** Makes what works the start queue of one binding. */
export function createStartWorker(options: StartWorkerOptions, binding: Binding) {
  const { database, recovery, limits, leaving } = options;
  /** Starts on their way to a claim: they will want slots, and hold none yet. */
  const preparing = new Set<Job>();
  async function start(job: Job): Promise<JobOutcome> {
    const opened = await openAttempt(options, job.data as StepJob, binding);
    if (opened.kind === 'gone') return;
    if (opened.kind === 'full') return LATER;
    if (opened.kind === 'away') return reroute(options, job.data as StepJob, binding);
    if (opened.kind === 'open') {
      const { context } = opened;
      const span = attemptSpan(options, 'start work', { ...context.task, attempt: context.attempt });
      return withSpan(span, () =>
        beginAttempt(options, context, { job, onClaim: () => preparing.delete(job) }),
      );
    }
    const settled = await recovery.recover(opened.context.attempt);
    if (!settled) return { againInSeconds: Math.max(1, limits.claimStaleSeconds / 2) };
  }
  return {
    /** Delivering a job twice is harmless. */
    handler: async (job: Job): Promise<JobOutcome> => {
      if (leaving.aborted) return RELEASED;
      preparing.add(job);
      try {
        return await start(job);
      } catch (error) {
        if (leaving.aborted && preparing.has(job)) return RELEASED;
        throw error;
      } finally {
        preparing.delete(job);
      }
    },
    /** How many more starts the binding takes now: its room over all workers, less what is prepared here. */
    capacity: async (): Promise<number> => {
      // While its upstream is away, what waits is looked at whether or not a slot is free: another one may take it.
      if (!isUsable(binding)) return binding.concurrency - preparing.size;
      const { free, lacks } = await readRoom(database, binding);
      if (lacks === 'storage') options.unstored.wait(binding.id);
      return free - preparing.size;
    },
  };
}

/** There is no room. The end of what holds a slot wakes the queue; this is the backstop. */
const LATER = { againInSeconds: 1 };

/** For another worker, now. */
const RELEASED = { againInSeconds: 0 };

interface Start {
  readonly job: Job;
  /** From here on the attempt itself holds its slot. */
  readonly onClaim: () => void;
}

async function beginAttempt(
  options: StartWorkerOptions,
  context: AttemptContext,
  { job: { signal }, onClaim }: Start,
): Promise<JobOutcome> {
  const { attempt, binding, step } = context;
  const unsent = AbortSignal.any([signal, options.leaving]);
  const request = await prepareOrEnd(options, context, unsent);
  if (request === null) return;
  unsent.throwIfAborted();
  const claim = newId();
  const requestedAt = now();
  const taken = await takeClaim(options, context, claim).catch(async (error: unknown) => {
    // It may have been committed: nothing was sent under it, and only this process knows that.
    await giveUpUnsent(options, context, claim);
    throw error;
  });
  if (taken === 'full') return LATER;
  // Cancelled meanwhile, which has closed it, or another worker has it.
  if (taken === 'not-ours') return;
  onClaim();
  const held = holdClaim(options, toAttemptKey(attempt), { id: claim, requestedAt });
  try {
    if (!(await held.confirm())) return await giveUpUnsent(options, context, claim);
    const capability = findJob(binding, step.input.kind);
    if (capability === undefined) await options.calls.run(context, { request, held, signal });
    else await startJob(options, context, { capability, request, held, signal });
  } finally {
    held.release();
  }
}

/** Inputs are made ready before the claim: what fetching them costs can simply be done again. */
async function prepareOrEnd(
  options: StartWorkerOptions,
  { task, step, attempt, binding }: AttemptContext,
  signal: AbortSignal,
): Promise<WorkRequest | null> {
  if (fetchesInput(step.input)) {
    const stage = formatStage(step, 'fetching input');
    await options.transactor.append([{ taskId: task.id, stage, runningStep: step.step }]);
  }
  try {
    // Another process may have read about it when the work was accepted.
    await learnModel(options.registry, step.input);
    return await prepareRequest(options, step.input, { owner: task.owner, binding, signal });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof UpstreamError)) throw error;
    // Delivered twice, the job may have got farther elsewhere.
    await endAttempt(options, attempt, {
      from: ['STARTING'],
      isUnclaimed: true,
      failure: toFailure(error),
    });
    return null;
  }
}

/**
 * This process was paused for too long after taking the claim, or has not heard whether it has it. Nothing was sent: if it is ours,
 * another attempt may follow.
 */
async function giveUpUnsent(
  options: StartWorkerOptions,
  { attempt }: AttemptContext,
  claim: string,
): Promise<void> {
  const { reference } = attempt;
  options.logger.warn({ reference }, 'a start was not sent: its claim is stale, or uncertain');
  await endAttempt(options, attempt, { from: ['STARTING'], claim, failure: START_LOST });
}
