import { toError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';
import type { WakeUpListener } from '../event-bus.ts';

/** The listeners of this process. */
export interface Listeners {
  /** Returns the removal of the listener. */
  listen(topic: string, listener: WakeUpListener): () => void;
  onGap(listener: () => void): () => void;
  deliver(topic: string, key: string, version: number): void;
  notifyGap(): void;
  /** Number of listeners of all topics. */
  count(): number;
  clear(): void;
}

/** Makes an empty registry. */
export function createListeners(logger: Logger): Listeners {
  const topics = new Map<string, Set<WakeUpListener>>();
  const gapListeners = new Set<() => void>();
  return {
    listen: (topic, listener) => addListener(topics, topic, listener),
    onGap(listener) {
      const own = () => listener();
      gapListeners.add(own);
      return () => void gapListeners.delete(own);
    },
    deliver(topic, key, version) {
      for (const listener of topics.get(topic) ?? []) guarded(logger, () => listener(key, version));
    },
    notifyGap() {
      for (const listener of gapListeners) guarded(logger, listener);
    },
    count: () => [...topics.values()].reduce((sum, { size }) => sum + size, 0),
    clear() {
      topics.clear();
      gapListeners.clear();
    },
  };
}

/** Adds a listener and returns its removal; a topic without listeners is removed. */
function addListener(
  topics: Map<string, Set<WakeUpListener>>,
  topic: string,
  listener: WakeUpListener,
): () => void {
  // A new function, so that the same listener may be added twice and removed once.
  const own: WakeUpListener = (key, version) => listener(key, version);
  const listeners = topics.get(topic) ?? new Set();
  topics.set(topic, listeners.add(own));
  return () => {
    if (listeners.delete(own) && listeners.size === 0) topics.delete(topic);
  };
}

/** An error of one listener must not keep the others from being called. */
function guarded(logger: Logger, call: () => void): void {
  try {
    call();
  } catch (thrown) {
    logger.error({ error: toError(thrown) }, 'a listener for wake-ups failed');
  }
}
