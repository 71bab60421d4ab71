/**
 * "Something has changed, look": wake-ups between processes, without content. Truth is always in the rows. Wake-ups may
 * be lost, repeated or reordered; listeners compare versions and read. Implemented on PostgreSQL LISTEN/NOTIFY with
 * batching in postgres-event-bus.ts; Redis or NATS could stand behind the same interface.
 */
export interface EventBus {
  /** After commit: `key` of `topic` has reached `version`. Coalesced and sent in batches every 50 ms, never in a writer's transaction. */
  publish(topic: string, key: string, version: number): void;
  /** Calls the listener for each wake-up of the topic, this process's own included (those at once). Returns its removal. */
  listen(topic: string, listener: WakeUpListener): () => void;
  /** Called after the LISTEN connection was lost and is back: wake-ups may be missing, look at everything you wait for. */
  onGap(listener: () => void): () => void;
  /** How many listeners are registered now; 0 when nobody waits. Tests assert it. */
  listenerCount(): number;
  close(): Promise<void>;
}

/** Hears that `key` has reached `version`; calls may be lost, repeated or out of order. */
export type WakeUpListener = (key: string, version: number) => void;
