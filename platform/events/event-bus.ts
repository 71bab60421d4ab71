/**
 * Wake-ups between processes: a key of a topic has changed, without content. The rows are the truth: wake-ups may be
 * lost, repeated or reordered, so listeners compare versions and read. Implemented on PostgreSQL
 * LISTEN/NOTIFY (postgres/) and on NATS (nats/); wake-ups/ has what both share.
 */
export interface EventBus {
  /** Publishes, after commit, that `key` of `topic` has reached `version`. Sent in batches every 50 ms. */
  publish(topic: string, key: string, version: number): void;
  /** Calls the listener for each wake-up of the topic, those of this process at once. Returns its removal. */
  listen(topic: string, listener: WakeUpListener): () => void;
  /** Calls the listener when the connection that listens is restored: wake-ups may be missing, so read everything again. */
  onGap(listener: () => void): () => void;
  /** Number of registered listeners. Tests assert it. */
  listenerCount(): number;
  close(): Promise<void>;
}

/** Called when `key` has reached `version`; calls may be lost, repeated or out of order. */
export type WakeUpListener = (key: string, version: number) => void;
