import { randomUUID } from 'node:crypto';

import type { Logger } from '../../process/logger.ts';
import type { EventBus } from '../event-bus.ts';
import { createListeners } from './listeners.ts';
import { createOutbox, readMessage } from './outbox.ts';
import { createSender } from './sender.ts';

/** What every implementation of the event bus shares: batches out, payloads in, listeners of this process. */
export interface WakeUpBus {
  /** What the bus does but its end, which belongs to whoever has the connection. */
  readonly bus: Omit<EventBus, 'close'>;
  /** Takes a payload of the wire: those of this process are ignored, and what is none of ours is logged. */
  receive(payload: string): void;
  /** There is a connection again: what waits is sent at once, and everybody reads everything again. */
  restored(): void;
  /** Sends what waits (one attempt); then nothing more. */
  flush(): Promise<void>;
  /** Removes all listeners. */
  clear(): void;
}

/** How payloads are sent, each below 8,000 bytes; rejects when they were not, and they are sent again. */
export interface WakeUpBusOptions {
  readonly send: (payloads: readonly string[]) => Promise<void>;
  readonly logger: Logger;
}

/** Makes the bus of one process over any wire. */
export function createWakeUpBus({ send, logger }: WakeUpBusOptions): WakeUpBus {
  const origin = randomUUID();
  const outbox = createOutbox(origin);
  const listeners = createListeners(logger);
  const sender = createSender({ send, outbox, logger });
  return {
    bus: {
      publish(topic, key, version) {
        outbox.add(topic, key, version);
        sender.wake();
        listeners.deliver(topic, key, version);
      },
      listen: (topic, listener) => listeners.listen(topic, listener),
      onGap: (listener) => listeners.onGap(listener),
      listenerCount: () => listeners.count(),
    },
    receive(payload) {
      const message = readMessage(payload);
      if (!message) {
        logger.warn({ bytes: payload.length }, 'ignored a notification that is not ours');
        return;
      }
      if (message.origin === origin) return;
      if (message.gap) listeners.notifyGap();
      for (const entry of message.entries) listeners.deliver(...entry);
    },
    restored() {
      sender.retry();
      listeners.notifyGap();
    },
    flush: () => sender.close(),
    clear: () => listeners.clear(),
  };
}
