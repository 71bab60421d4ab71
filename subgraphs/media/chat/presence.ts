import { toError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { ChatStore } from './store.ts';

/** Who follows stored replies in this process, so that a reply that nobody waits for any more is known as such. */
export interface Presence {
  /** Counts a follower; the function that it leaves by is told whether the reply had ended. */
  enter(id: string): (hasEnded: boolean) => void;
}

/** Makes the counts. The last follower who leaves a running reply marks it: the same request again joins it. */
export function createPresence({
  store,
  logger,
}: {
  readonly store: Pick<ChatStore, 'noteLeft'>;
  readonly logger: Logger;
}): Presence {
  const followers = new Map<string, number>();
  return {
    enter(id) {
      followers.set(id, (followers.get(id) ?? 0) + 1);
      return (hasEnded) => {
        const others = (followers.get(id) ?? 1) - 1;
        if (others > 0) {
          followers.set(id, others);
          return;
        }
        followers.delete(id);
        if (hasEnded) return;
        // Without the mark the same request makes a reply of its own, as any first try does.
        store.noteLeft(id, true).catch((thrown: unknown) => {
          logger.debug({ error: toError(thrown), id }, 'a reply could not be marked as left');
        });
      };
    },
  };
}
