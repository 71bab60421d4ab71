import { toError } from '../errors.ts';
import type { Logger } from '../process/logger.ts';
import type { EventBus } from './event-bus.ts';

interface FollowChangesOptions {
  readonly bus: EventBus;
  readonly logger: Logger;
  /** The topic of the bus that says that the state changed. */
  readonly topic: string;
  /** Reads all of it. */
  readonly load: () => Promise<void>;
  /** What the log says when it could not be read. */
  readonly problem: string;
}

/** Keeps a state that `load` has read in step with the other processes. */
export function followChanges({ bus, logger, topic, load, problem }: FollowChangesOptions) {
  const loadInTurn = createTurns(load);
  const reload = (): void => {
    loadInTurn().catch((thrown: unknown) => logger.warn({ error: toError(thrown) }, problem));
  };
  const stops = [bus.listen(topic, reload), bus.onGap(reload)];
  return {
    /** Reads it again in the background. */
    reload,
    /** It was changed here: reads it again, and so do the others. */
    changed: async (): Promise<void> => {
      await loadInTurn();
      bus.publish(topic, 'all', Date.now());
    },
    stop: (): void => {
      for (const stop of stops) stop();
    },
  };
}

/** Runs `load` one at a time; calls during a run share the next one. Two at once could end with the older state. */
function createTurns(load: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  return () => {
    next ??= last.then(() => {
      next = null;
      const turn = load();
      last = turn.catch(() => undefined);
      return turn;
    });
    return next;
  };
}
