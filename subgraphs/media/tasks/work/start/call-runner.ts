import { setTimeout as pause } from 'node:timers/promises';

import { toError } from '../../../../../platform/errors.ts';
import { resultKindOf } from '../../../domain/result-kinds.ts';
import { isFinal } from '../../../domain/task.ts';
import {
  requestKind,
  UpstreamError,
  type Outcome,
  type WorkRequest,
} from '../../../providers/contract/provider.ts';
import { failureFrom, START_UNKNOWN, storageFailure } from '../../rules/failures.ts';
import { startQueue } from '../../rules/queues.ts';
import { closeAttempt, renewClaim } from '../../storage/attempt-store.ts';
import { moveStep } from '../../storage/step-store.ts';
import { lockTask } from '../../storage/task-store.ts';
import { CANCEL_TOPIC } from '../../storage/transactor.ts';
import {
  connectionFor,
  endAttempt,
  keyOf,
  stageOf,
  type AttemptScene,
  type Engine,
} from '../attempts/attempt-context.ts';
import { finishAttempt, outcomeOf, writable } from '../results/finish.ts';
import { HopelessResult, isStoreAway, storeResultFile } from '../results/result-files.ts';
import { completeStep } from '../results/store-worker.ts';
import type { HeldClaim } from './claim.ts';

/** Short work: one call that answers with the outcome. It has no handle, so its claim is held until all is stored. */
export interface CallRunner {
  run(scene: AttemptScene, call: Call): Promise<void>;
  close(): void;
}

interface Call {
  readonly request: WorkRequest;
  readonly held: HeldClaim;
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
}

const CANCELLED = { code: 'LOST', message: 'cancelled while it ran', retryable: false } as const;

/** Makes the runner of one worker; it hears of cancelled tasks by itself. */
export function createCallRunner(engine: Engine): CallRunner {
  const running = new Map<string, Set<AbortController>>();
  const unlisten = engine.bus.listen(CANCEL_TOPIC, (taskId) => {
    for (const controller of running.get(taskId) ?? []) controller.abort(new Error('cancelled'));
  });
  return {
    async run(scene, call) {
      const { id } = scene.task;
      const cancel = new AbortController();
      const controllers = running.get(id) ?? new Set();
      running.set(id, controllers.add(cancel));
      try {
        await runCall(engine, scene, { ...call, cancel: cancel.signal });
      } finally {
        controllers.delete(cancel);
        if (controllers.size === 0) running.delete(id);
      }
    },
    close: unlisten,
  };
}

type RunningCall = Call & { readonly cancel: AbortSignal };

async function runCall(engine: Engine, scene: AttemptScene, call: RunningCall): Promise<void> {
  const { attempt, binding, step } = scene;
  const capability = binding.provider.calls?.[requestKind(step.input.kind)];
  if (capability === undefined) {
    const failure = failureFrom(new Error(`${binding.id} no longer serves ${step.input.kind}`));
    await endAttempt(engine, attempt, { from: ['STARTING'], claim: call.held.id, failure });
    return;
  }
  const signals = [
    call.signal,
    call.cancel,
    call.held.lost,
    AbortSignal.timeout(binding.stallSeconds * 1000),
  ];
  let outcome: Outcome;
  try {
    outcome = await capability.call(call.request, {
      connection: connectionFor(binding, step.input),
      reference: attempt.reference,
      signal: AbortSignal.any(signals),
    });
  } catch (error) {
    // Stopping, or no longer ours: the attempt stays claimed, and whoever takes it over decides.
    if (call.signal.aborted || call.held.lost.aborted) throw error;
    await afterFailedCall(engine, scene, { call, error });
    return;
  }
  await keepOutcome(engine, scene, { call, outcome });
}

async function afterFailedCall(
  engine: Engine,
  { attempt, binding }: AttemptScene,
  { call, error }: { call: RunningCall; error: unknown },
): Promise<void> {
  const end = { from: ['STARTING'], claim: call.held.id } as const;
  if (call.cancel.aborted) {
    await endAttempt(engine, attempt, { ...end, failure: CANCELLED });
  } else if (error instanceof UpstreamError && !error.startUnknown) {
    await endAttempt(engine, attempt, { ...end, failure: failureFrom(error), retryAfter: error.retryAfter });
  } else {
    engine.logger.warn(
      { error: toError(error), reference: attempt.reference },
      'a call ended without an answer',
    );
    const unknown = { restart: binding.restartUnknown };
    await endAttempt(engine, attempt, { ...end, failure: START_UNKNOWN, unknown });
  }
}

async function keepOutcome(
  engine: Engine,
  scene: AttemptScene,
  { call, outcome }: { call: RunningCall; outcome: Outcome },
): Promise<void> {
  const { attempt } = scene;
  const claim = call.held.id;
  // Texts need no storing, and addresses survive a crash: both leave our hands at once.
  if (outcome.files.length === 0 || writable(outcome) !== null) {
    await finishAttempt(engine, { attempt, from: 'STARTING', claim, outcome });
    return;
  }
  if (!(await beginStoring(engine, scene, claim))) return;
  try {
    const mediaIds = await storeBytes(engine, scene, { outcome, signal: call.signal });
    const kept = outcomeOf(outcome, { mediaIds, provider: attempt.provider });
    const done = { taskId: attempt.task_id, step: attempt.step, outcome: kept };
    await completeStep(engine, { ...done, open: { attempt, claim } });
  } catch (error) {
    call.signal.throwIfAborted();
    await endAttempt(engine, attempt, { from: ['STARTING'], claim, failure: storageFailure(error) });
  }
}

/** From here on it is too late to cancel. False when it was cancelled before, or is not ours any more. */
async function beginStoring(
  engine: Engine,
  { task, step, attempt }: AttemptScene,
  claim: string,
): Promise<boolean> {
  return engine.transactor.run(async (scope) => {
    const current = await lockTask(scope.transaction, task.id);
    // Whoever has taken the attempt over decides about its step.
    if (!(await renewClaim(scope.transaction, keyOf(attempt), claim))) return false;
    if (current !== null && !isFinal(current.state) && current.cancel_requested_at === null) {
      await moveStep(scope.transaction, {
        taskId: task.id,
        step: step.step,
        state: 'STORING',
        finished: null,
      });
      await scope.append([{ taskId: task.id, stage: stageOf(step, 'storing result') }]);
      return true;
    }
    await closeAttempt(scope.transaction, keyOf(attempt), { from: ['STARTING'], to: 'CANCELLED', claim });
    scope.wake(startQueue(attempt.binding));
    if (current !== null && !isFinal(current.state)) await engine.advance.settleCancel(scope, current);
    return false;
  });
}

async function storeBytes(
  engine: Engine,
  { task, binding, step }: AttemptScene,
  { outcome, signal }: { outcome: Outcome; signal: AbortSignal },
): Promise<readonly string[]> {
  const mediaIds: string[] = [];
  for (const [position, file] of outcome.files.entries()) {
    const result = { file, binding, owner: task.owner, kind: resultKindOf(step.input), position, signal };
    mediaIds.push(await withRetries(engine, signal, async () => (await storeResultFile(engine, result)).id));
  }
  return mediaIds;
}

/** The bytes exist only here, so storing them is tried as often as fetching would be, and longer while our store is away. */
async function withRetries<Result>(
  { limits }: Engine,
  signal: AbortSignal,
  body: () => Promise<Result>,
): Promise<Result> {
  const patientUntil = Date.now() + limits.heldOutageSeconds * 1000;
  for (let tries = 1; ; tries += 1) {
    try {
      return await body();
    } catch (error) {
      signal.throwIfAborted();
      const isWaiting = isStoreAway(error) && Date.now() < patientUntil;
      if (error instanceof HopelessResult || (tries >= limits.maxStoreTries && !isWaiting)) throw error;
      const pauseSeconds = Math.min(limits.storePauseSeconds, 2 ** (tries - 1));
      await pause(pauseSeconds * 1000, undefined, { signal });
    }
  }
}
