import type { Binding } from '../../../generators/bindings/binding.ts';
import type { CallContext, JobCapability } from '../../../providers/contract/provider.ts';
import type { DueAttempt } from '../../storage/poll-store.ts';
import { connectionFor, type Engine } from '../attempts/attempt-context.ts';

/** A due attempt with everything that is needed to ask its upstream. */
export interface Scene {
  readonly engine: Engine;
  readonly due: DueAttempt;
  readonly binding: Binding;
  readonly capability: JobCapability;
  readonly stopping: AbortSignal;
}

/** Connection and signal of a status, find or cancel call. */
export function contextOf({ engine, due, binding, stopping }: Scene): CallContext {
  return {
    connection: connectionFor(binding, due.step_input),
    signal: AbortSignal.any([stopping, AbortSignal.timeout(engine.limits.statusTimeoutMs)]),
  };
}
