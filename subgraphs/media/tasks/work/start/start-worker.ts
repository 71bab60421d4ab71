import { toError } from '../../../../../platform/errors.ts';
import { newId } from '../../../../../platform/ids.ts';
import type { Job, JobHandler, JobOutcome } from '../../../../../platform/queue/queue.ts';
import { isFinal } from '../../../domain/task.ts';
import type { Binding } from '../../../generators/bindings/binding.ts';
import {
  UpstreamError,
  type Handle,
  type JobCapability,
  type WorkRequest,
} from '../../../providers/contract/provider.ts';
import { failureFrom, START_LOST } from '../../rules/failures.ts';
import type { StepJob } from '../../rules/queues.ts';
import { closeUnsentAttempts, countOpen, takeClaim } from '../../storage/attempt-store.ts';
import { lockTask } from '../../storage/task-store.ts';
import {
  connectionFor,
  endAttempt,
  firstPollMs,
  jobOf,
  keyOf,
  stageOf,
  type AttemptScene,
  type Engine,
} from '../attempts/attempt-context.ts';
import { fetchesInput, prepareRequest } from '../inputs/inputs.ts';
import type { CallRunner } from './call-runner.ts';
import { holdClaim, now, type HeldClaim } from './claim.ts';
import { openAttempt, type Opening } from './open-attempt.ts';
import { bringLateHandle } from './orphaned-start.ts';
import { recordHandle } from './record-handle.ts';
import type { Recovery } from './recovery.ts';

/** The work behind a start job: at most one start per attempt (docs/decisions/2026-11-20-at-most-once-starts.md). */
export interface StartWorkerOptions {
  readonly engine: Engine;
  readonly recovery: Recovery;
  readonly calls: CallRunner;
}

/** What works a binding's start queue. */
export interface StartWorker {
  /** Delivering a job twice is harmless. */
  readonly handler: JobHandler;
  /** How many more starts the binding takes now: its limit, less what is open over all workers or just being opened. */
  readonly capacity: () => Promise<number>;
}

/** Makes the worker of one binding. */
export function createStartWorker(options: StartWorkerOptions, binding: Binding): StartWorker {
  const { engine, recovery } = options;
  let opening = 0;
  async function open(job: Job): Promise<Opening> {
    opening += 1;
    try {
      return await openAttempt(engine, job.data as StepJob, binding);
    } finally {
      opening -= 1;
    }
  }
  return {
    async handler(job): Promise<JobOutcome> {
      const opened = await open(job);
      if (opened.kind === 'gone') return;
      if (opened.kind === 'full') return { againInSeconds: 1 };
      if (opened.kind === 'open') return beginAttempt(options, opened.scene, job);
      const settled = await recovery.recover(opened.scene.attempt);
      if (!settled) return { againInSeconds: Math.max(1, engine.limits.claimStaleSeconds / 2) };
    },
    capacity: async () => binding.concurrency - (await countOpen(engine.database, binding.id)) - opening,
  };
}

async function beginAttempt(options: StartWorkerOptions, scene: AttemptScene, job: Job): Promise<void> {
  const { engine, calls } = options;
  const { attempt, binding, step } = scene;
  const request = await prepareOrEnd(engine, scene, job.signal);
  if (request === null) return;
  job.signal.throwIfAborted();
  const claim = newId();
  const askedAt = now();
  if (!(await takeClaim(engine.database, keyOf(attempt), claim))) {
    await releaseUnsent(engine, scene);
    return;
  }
  const held = holdClaim(engine, keyOf(attempt), { id: claim, askedAt });
  try {
    if (!(await held.confirm())) return await giveUpUnsent(engine, scene, claim);
    const capability = jobOf(binding, step.input.kind);
    if (capability === undefined) await calls.run(scene, { request, held, signal: job.signal });
    else await startJob(options, scene, { capability, request, held, signal: job.signal });
  } finally {
    held.release();
  }
}

/** Inputs are made ready before the claim: what fetching them costs can simply be done again. */
async function prepareOrEnd(
  engine: Engine,
  scene: AttemptScene,
  signal: AbortSignal,
): Promise<WorkRequest | null> {
  const { task, step, attempt, binding } = scene;
  if (fetchesInput(step.input)) {
    const stage = stageOf(step, 'fetching input');
    await engine.transactor.append([{ taskId: task.id, stage, runningStep: step.step }]);
  }
  try {
    return await prepareRequest(engine, step.input, { owner: task.owner, binding, signal });
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    await endAttempt(engine, attempt, { from: ['STARTING'], failure: failureFrom(error) });
    return null;
  }
}

/** The claim was not ours to take: cancelled meanwhile (then nothing was sent), or another worker has it. */
async function releaseUnsent(engine: Engine, { task, attempt }: AttemptScene): Promise<void> {
  await engine.transactor.run(async (scope) => {
    const current = await lockTask(scope.transaction, task.id);
    if (current === null || isFinal(current.state) || current.cancel_requested_at === null) return;
    await closeUnsentAttempts(scope.transaction, attempt.task_id);
    await engine.advance.settleCancel(scope, current);
  });
}

/** We were silent for too long after taking the claim. Nothing was sent: if it is ours yet, another attempt may follow. */
async function giveUpUnsent(engine: Engine, { attempt }: AttemptScene, claim: string): Promise<void> {
  const { reference } = attempt;
  engine.logger.warn({ reference }, 'a start was not sent: its claim had gone stale');
  await endAttempt(engine, attempt, { from: ['STARTING'], claim, failure: START_LOST });
}

interface Start {
  readonly capability: JobCapability;
  readonly request: WorkRequest;
  readonly held: HeldClaim;
  readonly signal: AbortSignal;
}

async function startJob(options: StartWorkerOptions, scene: AttemptScene, start: Start): Promise<void> {
  const { engine, recovery } = options;
  const { attempt, binding, step } = scene;
  const { capability, request, held } = start;
  const noticeUrl = engine.noticeAddress(binding, attempt.reference);
  let handle: Handle;
  try {
    handle = await capability.start(request, {
      connection: connectionFor(binding, step.input),
      reference: attempt.reference,
      ...(noticeUrl !== undefined && { noticeUrl }),
      // Not the job's own signal: a start that was sent is waited for, so that its handle can be saved.
      signal: AbortSignal.timeout(engine.limits.startTimeoutMs),
    });
  } catch (error) {
    if (start.signal.aborted || held.lost.aborted) throw error;
    await afterFailedStart(recovery, engine, { scene, error, claim: held.id });
    return;
  }
  const pollMs = firstPollMs(capability);
  if (await recordHandle(engine, scene, { claim: held.id, handle, pollMs })) return;
  await bringLateHandle(engine, scene, { capability, handle });
}

async function afterFailedStart(
  recovery: Recovery,
  engine: Engine,
  { scene, error, claim }: { scene: AttemptScene; error: unknown; claim: string },
): Promise<void> {
  const known = error instanceof UpstreamError && !error.startUnknown;
  if (known) {
    await endAttempt(engine, scene.attempt, {
      from: ['STARTING'],
      claim,
      failure: failureFrom(error),
      retryAfter: error.retryAfter,
    });
    return;
  }
  engine.logger.warn(
    { error: toError(error), reference: scene.attempt.reference },
    'a start was answered in a way that leaves open whether it happened',
  );
  await recovery.resolve(scene, claim);
}
