import { randomUUID } from 'node:crypto';

import { toError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';
import type { EventBus, WakeUpListener } from '../event-bus.ts';
import { createOutbox, type Outbox, readMessage } from './outbox.ts';

/** How payloads are sent, each below 8,000 bytes; rejects when they were not, and they are sent again. */
export interface WakeUpBusOptions {
  readonly send: (payloads: readonly string[]) => Promise<void>;
  readonly logger: Logger;
}

/** Makes what every implementation of the event bus shares: batches out, payloads in, listeners of this process. */
export function createWakeUpBus({ send, logger }: WakeUpBusOptions) {
  const origin = randomUUID();
  const outbox = createOutbox(origin);
  const listeners = createListeners(logger);
  const sender = createSender({ send, outbox, logger });
  /** What the bus does but its end, which belongs to whoever has the connection. */
  const bus: Omit<EventBus, 'close'> = {
    publish(topic, key, version) {
      outbox.add(topic, key, version);
      sender.wake();
      listeners.deliver(topic, key, version);
    },
    listen: (topic, listener) => listeners.listen(topic, listener),
    onGap: (listener) => listeners.onGap(listener),
    listenerCount: () => listeners.count(),
  };
  return {
    bus,
    /** Takes a payload of the wire: those of this process are ignored, and what is none of ours is logged. */
    receive(payload: string): void {
      const message = readMessage(payload);
      if (!message) {
        logger.warn({ bytes: payload.length }, 'ignored a notification that is not ours');
        return;
      }
      if (message.origin === origin) return;
      if (message.gap) listeners.notifyGap();
      for (const entry of message.entries) listeners.deliver(...entry);
    },
    /** There is a connection again: what waits is sent at once, and everybody reads everything again. */
    restored(): void {
      sender.retry();
      listeners.notifyGap();
    },
    /** Sends what waits (one attempt); then nothing more. */
    flush: () => sender.close(),
    /** Removes all listeners. */
    clear: () => listeners.clear(),
  };
}

/** Makes the registry of the listeners of this process. */
function createListeners(logger: Logger) {
  const topics = new Map<string, Set<WakeUpListener>>();
  const gapListeners = new Set<() => void>();
  return {
    /** Returns the removal of the listener. */
    listen: (topic: string, listener: WakeUpListener) => addListener(topics, topic, listener),
    onGap(listener: () => void): () => void {
      const own = () => listener();
      gapListeners.add(own);
      return () => void gapListeners.delete(own);
    },
    deliver(topic: string, key: string, version: number): void {
      for (const listener of topics.get(topic) ?? []) guarded(logger, () => listener(key, version));
    },
    notifyGap(): void {
      for (const listener of gapListeners) guarded(logger, listener);
    },
    /** Number of listeners of all topics. */
    count: () => [...topics.values()].reduce((sum, { size }) => sum + size, 0),
    clear(): void {
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

/** Time in which wake-ups are collected. */
const BATCH_MS = 50;
/** Longest pause before a failed batch is retried. */
const LONGEST_RETRY_MS = 5000;
/** Payloads per statement: 100 of 8,000 bytes. */
const PAYLOADS_PER_BATCH = 100;

interface SenderOptions {
  readonly send: (payloads: readonly string[]) => Promise<void>;
  readonly outbox: Outbox;
  readonly logger: Logger;
}

/** Sends the outbox in batches, one at a time; a failed batch goes back and is retried with growing pauses. */
function createSender({ send, outbox, logger }: SenderOptions) {
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let closed = false;
  let failures = 0;

  async function sendBatch(): Promise<void> {
    const payloads = outbox.take(PAYLOADS_PER_BATCH);
    if (payloads.length === 0) return;
    try {
      await send(payloads);
      failures = 0;
    } catch (thrown) {
      outbox.putBack(payloads);
      failures += 1;
      if (failures === 1 || closed)
        logger.warn({ error: toError(thrown) }, 'cannot send wake-ups; they will be retried');
    }
  }

  function wake(): void {
    if (closed || timer || sending) return;
    const pause = Math.min(BATCH_MS * 2 ** Math.min(failures, 10), LONGEST_RETRY_MS);
    timer = setTimeout(() => {
      timer = undefined;
      sending = sendBatch().finally(() => {
        sending = undefined;
        if (outbox.size > 0) wake();
      });
    }, pause);
  }

  return {
    /** Schedules a batch. */
    wake,
    /** Tries at once what could not be sent: the way is free again. */
    retry(): void {
      failures = 0;
      clearTimeout(timer);
      timer = undefined;
      if (outbox.size > 0) wake();
    },
    /** Sends the rest (one attempt) and stops. */
    async close(): Promise<void> {
      closed = true;
      clearTimeout(timer);
      await sending;
      while (outbox.size > 0) {
        const before = failures;
        await sendBatch();
        if (failures > before) return;
      }
    },
  };
}
