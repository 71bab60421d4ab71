import { isDeepStrictEqual } from 'node:util';

import { toError } from '../../../../../platform/errors.ts';
import type { AttemptTable } from '../../../database/task-tables.ts';
import type { Handle, JobCapability } from '../../../providers/contract/provider.ts';
import { readAttempts } from '../../storage/attempt-store.ts';
import { connectionFor, firstPollMs, type AttemptScene, type Engine } from '../attempts/attempt-context.ts';
import { recordHandle } from './record-handle.ts';

/** A start that was answered, and the wire it was sent over. */
export interface LateHandle {
  readonly capability: JobCapability;
  readonly handle: Handle;
}

/** Looks at what the others are doing; each time their claim may just have changed hands. */
const MAX_LOOKS = 5;

/**
 * What becomes of a start that was answered after its claim was lost. There was one start of this attempt, and it is
 * ours: others who have found it go on with it, who have not decided yet are told of it, and only when they have given
 * the attempt up is it cancelled where the wire can.
 */
export async function bringLateHandle(engine: Engine, scene: AttemptScene, late: LateHandle): Promise<void> {
  const log = { reference: scene.attempt.reference };
  for (let look = 1; look <= MAX_LOOKS; look += 1) {
    const attempt = await readAgain(engine, scene.attempt);
    if (attempt?.state !== 'STARTING' || attempt.claim === null) {
      if (attempt !== null && goesOnWith(attempt, late.handle)) {
        engine.logger.info(log, 'a start came back after its claim was lost; others go on with it');
        return;
      }
      break;
    }
    const { capability, handle } = late;
    const saved = await recordHandle(engine, scene, {
      claim: attempt.claim,
      handle,
      pollMs: firstPollMs(capability),
    });
    if (saved) {
      engine.logger.info(log, 'a start came back after its claim was lost; nobody had decided, so it counts');
      return;
    }
  }
  engine.logger.warn(log, 'a start came back after its claim was lost; discarding it');
  await cancel(engine, scene, late);
}

async function readAgain(engine: Engine, attempt: AttemptTable): Promise<AttemptTable | null> {
  const { task_id: taskId, step, number } = attempt;
  const attempts = await readAttempts(engine.database, [taskId]);
  return attempts.find((other) => other.step === step && other.number === number) ?? null;
}

function goesOnWith({ state, handle }: AttemptTable, late: Handle): boolean {
  return (state === 'RUNNING' || state === 'SUCCEEDED') && isDeepStrictEqual(handle, late);
}

async function cancel(
  engine: Engine,
  { attempt, binding, step }: AttemptScene,
  { capability, handle }: LateHandle,
): Promise<void> {
  await capability
    .cancel?.(handle, {
      connection: connectionFor(binding, step.input),
      signal: AbortSignal.timeout(engine.limits.statusTimeoutMs),
    })
    .catch((error: unknown) => {
      engine.logger.warn(
        { error: toError(error), reference: attempt.reference },
        'the discarded start still runs',
      );
    });
}
