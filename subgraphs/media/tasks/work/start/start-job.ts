import { toError } from '../../../../../platform/errors.ts';
import { UpstreamError } from '../../../domain/failure.ts';
import type { WorkRequest } from '../../../domain/work/request.ts';
import type { Binding } from '../../../generators/bindings/binding.ts';
import type { Handle, JobCapability } from '../../../providers/contract/provider.ts';
import { failureFrom } from '../../rules/failures.ts';
import { connectionFor, firstPollMs, type AttemptContext } from '../attempts/attempt-context.ts';
import type { WorkerDependencies } from '../attempts/dependencies.ts';
import { endAttempt } from '../attempts/end-attempt.ts';
import type { HeldClaim } from './claim.ts';
import { settleOrphanedStart } from './orphaned-start.ts';
import { recordHandle } from './record-handle.ts';
import type { Recovery } from './recovery.ts';

/** What starting jobs needs besides. */
export interface StartDependencies extends WorkerDependencies {
  readonly recovery: Recovery;
  /** Where the upstream of a start may send webhooks; undefined where it could not reach us. */
  readonly webhookAddress: (binding: Binding, reference: string) => string | undefined;
}

interface JobStart {
  readonly capability: JobCapability;
  readonly request: WorkRequest;
  readonly held: HeldClaim;
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
}

/** Sends the one start of an attempt, and saves the handle that answers it. */
export async function startJob(
  dependencies: StartDependencies,
  context: AttemptContext,
  { capability, request, held, signal }: JobStart,
): Promise<void> {
  const { limits, webhookAddress } = dependencies;
  const { attempt, binding, step } = context;
  const webhookUrl = webhookAddress(binding, attempt.reference);
  let handle: Handle;
  try {
    handle = await capability.start(request, {
      connection: connectionFor(binding, step.input),
      reference: attempt.reference,
      ...(webhookUrl !== undefined && { webhookUrl }),
      // Not the job's own signal: a start that was sent is waited for, so that its handle can be saved.
      signal: AbortSignal.timeout(limits.startTimeoutMs),
    });
  } catch (error) {
    if (signal.aborted || held.lost.aborted) throw error;
    await endFailedStart(dependencies, context, { error, claim: held.id });
    return;
  }
  const pollMs = firstPollMs(capability);
  if (await recordHandle(dependencies, context, { claim: held.id, handle, pollMs })) return;
  await settleOrphanedStart(dependencies, context, { capability, handle });
}

async function endFailedStart(
  dependencies: StartDependencies,
  context: AttemptContext,
  { error, claim }: { readonly error: unknown; readonly claim: string },
): Promise<void> {
  const { attempt } = context;
  if (error instanceof UpstreamError && !error.startUnknown) {
    const { retryAfter } = error;
    const failure = failureFrom(error);
    await endAttempt(dependencies, attempt, { from: ['STARTING'], claim, failure, retryAfter });
    return;
  }
  const { reference } = attempt;
  dependencies.logger.warn({ error: toError(error), reference }, 'it is not known whether a start happened');
  await dependencies.recovery.resolve(context, claim, error);
}
