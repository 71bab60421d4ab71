import { toError } from '../../../../../platform/errors.ts';
import type { EventBus } from '../../../../../platform/events/event-bus.ts';
import { toFailure, UpstreamError, type Failure } from '../../../domain/failure.ts';
import { formatStage } from '../../../domain/words/stages.ts';
import type { WorkRequest } from '../../../domain/work/request.ts';
import type { Outcome, WatchedProgress } from '../../../providers/contract/provider.ts';
import { startUnknown } from '../../rules/failures.ts';
import { CANCEL_TOPIC } from '../../storage/transactor.ts';
import { findCall, connectionFor, type AttemptContext } from '../attempts/attempt-context.ts';
import { endAttempt } from '../attempts/end-attempt.ts';
import { storePreview, type ProgressWriter } from '../progress/progress-writer.ts';
import { storeCallResult } from '../results/store-call-result.ts';
import type { StoreDependencies } from '../results/store-worker.ts';
import type { HeldClaim } from './claim.ts';

/** What calls need besides: the bus on which cancel requests are published. */
export interface CallDependencies extends StoreDependencies {
  readonly bus: EventBus;
  readonly progress: ProgressWriter;
}

/** Short work: one call that answers with the outcome. It has no handle, so its claim is held until all is stored. */
export type CallRunner = ReturnType<typeof createCallRunner>;

interface Call {
  readonly request: WorkRequest;
  readonly held: HeldClaim;
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
}

const CANCELLED: Failure = { code: 'LOST', message: 'cancelled while it ran', retryable: false };

/** Makes the runner of one worker; it listens for cancelled tasks by itself. */
export function createCallRunner(dependencies: CallDependencies) {
  const running = new Map<string, Set<AbortController>>();
  const stopListening = dependencies.bus.listen(CANCEL_TOPIC, (taskId) => {
    for (const controller of running.get(taskId) ?? []) controller.abort(new Error('cancelled'));
  });
  return {
    async run(context: AttemptContext, call: Call): Promise<void> {
      const { id } = context.task;
      const cancel = new AbortController();
      const controllers = running.get(id) ?? new Set();
      running.set(id, controllers.add(cancel));
      try {
        await runCall(dependencies, context, { ...call, cancel: cancel.signal });
      } finally {
        controllers.delete(cancel);
        if (controllers.size === 0) running.delete(id);
      }
    },
    /** Tasks whose calls are under way. */
    get size() {
      return running.size;
    },
    close: stopListening,
  };
}

type RunningCall = Call & { readonly cancel: AbortSignal };

async function runCall(
  dependencies: CallDependencies,
  context: AttemptContext,
  call: RunningCall,
): Promise<void> {
  const { attempt, binding, step } = context;
  const { held, signal, cancel } = call;
  const capability = findCall(binding, step.input.kind);
  const timeout = AbortSignal.timeout(binding.attemptTimeoutSeconds * 1000);
  let outcome: Outcome;
  try {
    if (capability === undefined)
      throw new UpstreamError('MODEL_GONE', `it no longer serves ${step.input.kind}`);
    outcome = await capability.call(call.request, {
      connection: connectionFor(binding, step.input),
      reference: attempt.reference,
      signal: AbortSignal.any([signal, cancel, held.lost, timeout]),
      report: (told) => showProgress(dependencies, context, told),
    });
  } catch (error) {
    // Stopping, or no longer ours: the attempt stays claimed, and the worker that takes it over decides.
    if (signal.aborted || held.lost.aborted) throw error;
    await endFailedCall(dependencies, context, { call, error });
    return;
  }
  await storeCallResult(dependencies, context, { claim: held.id, signal, outcome });
}

/** What the upstream tells while the call is open; a task of several steps moves when a step ends. */
async function showProgress(
  { progress, files, logger }: CallDependencies,
  { task, step }: AttemptContext,
  { progress: own, stage, image }: WatchedProgress,
): Promise<void> {
  const isWhole = step.label === '';
  const report = {
    taskId: task.id,
    step: step.step,
    progress: isWhole ? own : 0,
    estimated: false,
    stepProgress: isWhole ? null : own,
  };
  if (image === undefined) return progress.report({ ...report, stage: formatStage(step, stage) });
  await storePreview({ files, logger }, { image, owner: task.owner, taskId: task.id }, (previewed) =>
    progress.write({ ...report, stage: formatStage(step, previewed('rendering')) }),
  );
}

async function endFailedCall(
  dependencies: CallDependencies,
  { attempt, binding }: AttemptContext,
  { call, error }: { call: RunningCall; error: unknown },
): Promise<void> {
  const end = { from: ['STARTING'], claim: call.held.id } as const;
  if (call.cancel.aborted) {
    // The provider may have done it all the same.
    await endAttempt(dependencies, attempt, { ...end, failure: CANCELLED, ending: 'unknown' });
  } else if (error instanceof UpstreamError && !error.startUnknown) {
    const { retryAfter } = error;
    await endAttempt(dependencies, attempt, { ...end, failure: toFailure(error), retryAfter });
  } else {
    const { reference } = attempt;
    dependencies.logger.warn({ error: toError(error), reference }, 'a call ended without an answer');
    const failure = startUnknown({ retry: binding.retryUnknownStart, cause: error });
    await endAttempt(dependencies, attempt, { ...end, failure });
  }
}
