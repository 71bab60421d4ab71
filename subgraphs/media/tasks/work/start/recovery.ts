import { setTimeout as pause } from 'node:timers/promises';

import { databaseAway } from '../../../../../platform/database-away.ts';
import { toError } from '../../../../../platform/errors.ts';
import { newId } from '../../../../../platform/ids.ts';
import type { AttemptRow } from '../../../database/database.ts';
import { UpstreamError } from '../../../domain/failure.ts';
import { isFinal } from '../../../domain/task.ts';
import { formatStage } from '../../../domain/words/stages.ts';
import type { Handle } from '../../../providers/contract/provider.ts';
import { START_LOST, startUnknown } from '../../rules/failures.ts';
import { findStaleClaims, takeOverClaim, isHandleTaken, saveHandle } from '../../storage/attempt-store.ts';
import { pollNow } from '../../storage/poll-store.ts';
import { noteUnknownAttempt } from '../../storage/sweep-store.ts';
import { lockTask } from '../../storage/task-store.ts';
import {
  connectionFor,
  firstPollMs,
  findJob,
  toAttemptKey,
  readContext,
  type AttemptContext,
} from '../attempts/attempt-context.ts';
import type { WorkerDependencies } from '../attempts/dependencies.ts';
import { endAttempt } from '../attempts/end-attempt.ts';

/**
 * Recovers starts that may or may not have happened: found at the upstream, certainly absent (the next attempt may
 * follow), or unknowable. An unknowable start is never repeated, unless its binding allows it.
 */
export type Recovery = ReturnType<typeof createRecovery>;

/** Makes the recovery of one worker. */
export function createRecovery(dependencies: WorkerDependencies) {
  const { database, limits, logger } = dependencies;
  const { claimStaleSeconds: staleSeconds } = limits;
  async function recover(attempt: AttemptRow): Promise<boolean> {
    // Before its claim is taken: a process that knows its upstream can find the start there.
    if (dependencies.registry.ofAttempt(attempt) === null && !(await isGivenUp(dependencies, attempt)))
      return false;
    const claim = newId();
    if (!(await takeOverClaim(database, toAttemptKey(attempt), { claim, staleSeconds }))) return false;
    const context = await readContext(dependencies, attempt);
    if (context !== null) return resolve(dependencies, context, { claim });
    const failure = startUnknown({ retry: false });
    return endAttempt(dependencies, attempt, { from: ['STARTING'], claim, failure });
  }
  return {
    /** Takes over a claimed start whose owner is gone. False when it is alive, or the upstream does not answer yet. */
    recover,
    /** Decides about a start under our own claim, which ended with `cause`. False when the upstream does not answer yet. */
    resolve: (context: AttemptContext, claim: string, cause?: unknown): Promise<boolean> =>
      resolve(dependencies, context, { claim, cause }),
    /** Recovers abandoned starts, at most 50. One that can not be looked after does not keep the others from it. */
    async sweep(): Promise<void> {
      for (const attempt of await findStaleClaims(database, { staleSeconds, limit: 50 })) {
        await recover(attempt).catch((error: unknown) => {
          if (databaseAway(error) !== undefined) throw error;
          const { reference } = attempt;
          logger.error({ error: toError(error), reference }, 'an abandoned start could not be looked after');
        });
      }
    },
  };
}

/** Whether no process has known the upstream of an attempt for a while. */
async function isGivenUp({ database, limits }: WorkerDependencies, attempt: AttemptRow): Promise<boolean> {
  return (await noteUnknownAttempt(database, toAttemptKey(attempt))) > limits.unconfiguredSeconds;
}

async function resolve(
  dependencies: WorkerDependencies,
  context: AttemptContext,
  { claim, cause }: { readonly claim: string; readonly cause?: unknown },
): Promise<boolean> {
  const { attempt, binding, step } = context;
  const found = await findStart(dependencies, context);
  if (found === 'not-now') return false;
  if (found === 'unknowable' || found === 'absent') {
    const unknown = startUnknown({ retry: binding.retryUnknownStart, cause });
    const failure = found === 'absent' ? START_LOST : unknown;
    return endAttempt(dependencies, attempt, { from: ['STARTING'], claim, failure });
  }
  const capability = findJob(binding, step.input.kind);
  const pollMs = capability === undefined ? 0 : firstPollMs(capability);
  return recordHandle(dependencies, context, { claim, handle: found, pollMs });
}

/** Looks the start up at its upstream, where the wire allows it. Twice when absent: the upstream may still be writing it. */
async function findStart(
  { limits, logger }: WorkerDependencies,
  { attempt, binding, step }: AttemptContext,
): Promise<Handle | 'absent' | 'unknowable' | 'not-now'> {
  const { reference } = attempt;
  const capability = findJob(binding, step.input.kind);
  if (capability?.find === undefined) return 'unknowable';
  const waited = (Date.now() - attempt.startedAt.getTime()) / 1000;
  const notNow = waited > binding.budgetSeconds ? 'unknowable' : 'not-now';
  // It is left alone for a while: the next sweep asks.
  if (notNow === 'not-now' && (binding.breaker?.pauseMs() ?? 0) > 0) return notNow;
  const find = () =>
    capability.find?.(reference, {
      connection: connectionFor(binding, step.input),
      signal: AbortSignal.timeout(limits.statusTimeoutMs),
    }) ?? 'unknowable';
  try {
    const first = await find();
    if (first !== 'absent') return first;
    await pause(limits.findGraceMs);
    return await find();
  } catch (error) {
    logger.warn({ error: toError(error), reference }, 'a start could not be looked up at its upstream');
    return notNow;
  }
}

interface Saved {
  readonly claim: string;
  readonly handle: Handle;
  readonly pollMs: number;
}

/**
 * Saves the handle under our claim, true when that was still ours. A handle that another attempt has is its owner's: nobody may
 * cancel it or get its result through this one, which ends as a start of which nothing is known.
 */
export async function recordHandle(
  dependencies: WorkerDependencies,
  context: AttemptContext,
  saved: Saved,
): Promise<boolean> {
  try {
    return await save(dependencies, context, saved);
  } catch (error) {
    if (!isHandleTaken(error)) throw error;
    const { attempt, binding } = context;
    const { reference, provider } = attempt;
    dependencies.logger.error(
      { reference, provider },
      'a provider answered a start with work of another one',
    );
    const cause = new UpstreamError('UNAVAILABLE', 'it answered with work that another start has');
    const failure = startUnknown({ retry: binding.retryUnknownStart, cause });
    return endAttempt(dependencies, attempt, { from: ['STARTING'], claim: saved.claim, failure });
  }
}

/** A cancel request that came meanwhile is served by the poller at once. */
async function save(
  dependencies: WorkerDependencies,
  { task, step, attempt }: AttemptContext,
  saved: Saved,
): Promise<boolean> {
  return dependencies.transactor.run(async (scope) => {
    const current = await lockTask(scope.transaction, task.id);
    const isSaved = await saveHandle(scope.transaction, toAttemptKey(attempt), saved);
    if (!isSaved || current === null) return false;
    if (isFinal(current.state) || current.cancelRequestedAt !== null) {
      await pollNow(scope.transaction, task.id);
      return true;
    }
    const stage = formatStage(step, 'queued upstream');
    await scope.append([{ taskId: task.id, stage, runningStep: step.step }]);
    return true;
  });
}
