import { isDeepStrictEqual } from 'node:util';

import type { AttemptRow } from '../../../database/database.ts';
import type { Handle, JobCapability } from '../../../providers/contract/provider.ts';
import { isHandleTaken, readAttempts, reopenAttempt } from '../../storage/attempt-store.ts';
import { firstPollMs, keyOf, type AttemptContext } from '../attempts/attempt-context.ts';
import type { WorkerDependencies } from '../attempts/dependencies.ts';
import { recordHandle } from './record-handle.ts';

/** A start that was answered after its claim was lost, and the wire it was sent over. */
export interface OrphanedStart {
  readonly capability: JobCapability;
  readonly handle: Handle;
}

/** Most tries to save its handle; each time the claim may just have changed hands. */
const MAX_TRIES = 5;

/**
 * There was one start of this attempt, and it is ours. Other workers that have found it go on with it; while they have
 * not decided, its handle is saved; once they have given the attempt up, it is taken up again for the poller to cancel.
 */
export async function settleOrphanedStart(
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
    return await reopenAttempt(database, keyOf(attempt), handle);
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
