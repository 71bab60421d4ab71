import { setTimeout as pause } from 'node:timers/promises';

import { toError } from '../../../../../platform/errors.ts';
import { newId } from '../../../../../platform/ids.ts';
import type { AttemptTable } from '../../../database/task-tables.ts';
import type { Handle } from '../../../providers/contract/provider.ts';
import { START_LOST, START_UNKNOWN } from '../../rules/failures.ts';
import { findStaleClaims, takeOverClaim } from '../../storage/attempt-store.ts';
import {
  connectionFor,
  endAttempt,
  firstPollMs,
  jobOf,
  keyOf,
  loadScene,
  type AttemptScene,
  type Engine,
} from '../attempts/attempt-context.ts';
import { recordHandle } from './record-handle.ts';

/**
 * What becomes of a start of which nobody knows whether it happened: found at the upstream, certainly absent (the next
 * attempt may follow), or unknowable. An unknowable start is never repeated in silence, unless its binding allows it.
 */
export interface Recovery {
  /** Takes over a claimed start whose owner is gone. False when it is alive, or the upstream does not answer yet. */
  recover(attempt: AttemptTable): Promise<boolean>;
  /** Decides about a start under our own claim. False when the upstream does not answer yet. */
  resolve(scene: AttemptScene, claim: string): Promise<boolean>;
  /** Looks for abandoned starts, at most 50. */
  sweep(): Promise<void>;
}

/** Makes the recovery of one worker. */
export function createRecovery(engine: Engine): Recovery {
  async function recover(attempt: AttemptTable): Promise<boolean> {
    const claim = newId();
    const { claimStaleSeconds: staleSeconds } = engine.limits;
    if (!(await takeOverClaim(engine.database, keyOf(attempt), { claim, staleSeconds }))) return false;
    const scene = await loadScene(engine, attempt);
    if (scene !== null) return resolve(engine, scene, claim);
    return endUnknown(engine, attempt, { claim, restart: false });
  }
  return {
    recover,
    resolve: (scene, claim) => resolve(engine, scene, claim),
    async sweep() {
      const { claimStaleSeconds: staleSeconds } = engine.limits;
      for (const attempt of await findStaleClaims(engine.database, { staleSeconds, limit: 50 })) {
        await recover(attempt);
      }
    },
  };
}

async function resolve(engine: Engine, scene: AttemptScene, claim: string): Promise<boolean> {
  const { attempt, binding } = scene;
  const answer = await ask(engine, scene);
  if (answer === 'not-now') return false;
  if (answer === 'unknowable') {
    return endUnknown(engine, attempt, { claim, restart: binding.restartUnknown });
  }
  if (answer === 'absent') {
    return endAttempt(engine, attempt, { from: ['STARTING'], claim, failure: START_LOST });
  }
  const capability = jobOf(binding, scene.step.input.kind);
  const pollMs = capability === undefined ? 0 : firstPollMs(capability);
  return recordHandle(engine, scene, { claim, handle: answer, pollMs });
}

async function endUnknown(
  engine: Engine,
  attempt: AttemptTable,
  { claim, restart }: { claim: string; restart: boolean },
): Promise<boolean> {
  return endAttempt(engine, attempt, {
    from: ['STARTING'],
    claim,
    failure: START_UNKNOWN,
    unknown: { restart },
  });
}

/** Asks the upstream for the start, where its wire can be asked. Absent is asked twice: it may be writing it just now. */
async function ask(
  engine: Engine,
  scene: AttemptScene,
): Promise<Handle | 'absent' | 'unknowable' | 'not-now'> {
  const { attempt, binding, step } = scene;
  const capability = jobOf(binding, step.input.kind);
  if (capability?.find === undefined) return 'unknowable';
  const find = () =>
    capability.find?.(attempt.reference, {
      connection: connectionFor(binding, step.input),
      signal: AbortSignal.timeout(engine.limits.statusTimeoutMs),
    }) ?? 'unknowable';
  try {
    const first = await find();
    if (first !== 'absent') return first;
    await pause(engine.limits.findGraceMs);
    return await find();
  } catch (error) {
    const waited = (Date.now() - attempt.started_at.getTime()) / 1000;
    engine.logger.warn(
      { error: toError(error), reference: attempt.reference },
      'a start could not be asked for',
    );
    return waited > engine.limits.unknownBudgetSeconds ? 'unknowable' : 'not-now';
  }
}
