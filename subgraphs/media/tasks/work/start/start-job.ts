import { isDeepStrictEqual } from 'node:util';

import { toError } from '../../../../../platform/errors.ts';
import type { AttemptRow } from '../../../database/database.ts';
import { toFailure, UpstreamError } from '../../../domain/failure.ts';
import type { WorkRequest } from '../../../domain/work/request.ts';
import type { Binding } from '../../../generators/bindings/binding.ts';
import type { Handle, JobCapability } from '../../../providers/contract/provider.ts';
import { isHandleTaken, readAttempts, reopenAttempt } from '../../storage/attempt-store.ts';
import {
  type AttemptContext,
  connectionFor,
  firstPollMs,
  toAttemptKey,
} from '../attempts/attempt-context.ts';
import type { WorkerDependencies } from '../attempts/dependencies.ts';
import { endAttempt } from '../attempts/end-attempt.ts';
import type { HeldClaim } from './claim.ts';
import { recordHandle, type Recovery } from './recovery.ts';

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
      confirm: () => held.confirm(),
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
    const failure = toFailure(error);
    await endAttempt(dependencies, attempt, { from: ['STARTING'], claim, failure, retryAfter });
    return;
  }
  const { reference } = attempt;
  dependencies.logger.warn({ error: toError(error), reference }, 'it is not known whether a start happened');
  await dependencies.recovery.resolve(context, claim, error);
}

/** A start that was answered after its claim was lost, and the wire it was sent over. */
interface OrphanedStart {
  readonly capability: JobCapability;
  readonly handle: Handle;
}

/** Most tries to save its handle; each time the claim may just have changed hands. */
const MAX_TRIES = 5;

/**
 * There was one start of this attempt, and it is ours. Other workers that have found it go on with it; while they have
 * not decided, its handle is saved; once they have given the attempt up, it is taken up again for the poller to cancel.
 */
async function settleOrphanedStart(
  dependencies: WorkerDependencies,
  context: AttemptContext,
  start: OrphanedStart,
): Promise<void> {
  const { logger } = dependencies;
  const { capability, handle } = start;
  const { reference } = context.attempt;
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const attempt = await readAgain(dependencies, context.attempt);
    if (attempt?.state !== 'STARTING' || attempt.claim === null) {
      if (attempt === null || !continuesWith(attempt, handle)) break;
      logger.info({ reference }, 'an orphaned start was answered; another worker continues with it');
      return;
    }
    const saved = { claim: attempt.claim, handle, pollMs: firstPollMs(capability) };
    if (await recordHandle(dependencies, context, saved)) {
      logger.info({ reference }, 'an orphaned start was answered; its handle is saved');
      return;
    }
  }
  const isReopened = await reopen(dependencies, context.attempt, handle);
  logger.warn(
    { reference, isReopened },
    'an orphaned start was answered after its attempt was given up; it is cancelled',
  );
}

/** Not where the handle is another attempt's: that one would be cancelled. */
async function reopen(
  { database }: WorkerDependencies,
  attempt: AttemptRow,
  handle: Handle,
): Promise<boolean> {
  try {
    return await reopenAttempt(database, toAttemptKey(attempt), handle);
  } catch (error) {
    if (!isHandleTaken(error)) throw error;
    return false;
  }
}

async function readAgain(
  { database }: WorkerDependencies,
  { taskId, step, number }: AttemptRow,
): Promise<AttemptRow | null> {
  const attempts = await readAttempts(database, [taskId]);
  return attempts.find((other) => other.step === step && other.number === number) ?? null;
}

function continuesWith({ state, handle }: AttemptRow, ours: Handle): boolean {
  return (state === 'RUNNING' || state === 'SUCCEEDED') && isDeepStrictEqual(handle, ours);
}
