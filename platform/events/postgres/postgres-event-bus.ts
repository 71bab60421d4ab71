import { randomUUID } from 'node:crypto';

import type { Database } from '../../database/database.ts';
import type { Logger } from '../../process/logger.ts';
import type { EventBus } from '../event-bus.ts';
import { createListeners } from './listeners.ts';
import { createListeningConnection } from './listening-connection.ts';
import { createOutbox, readMessage } from './outbox.ts';
import { createSender } from './sender.ts';

/** The event bus on PostgreSQL LISTEN/NOTIFY: sends batches through the pool, receives on one listening connection. */
export interface EventBusOptions {
  readonly database: Database;
  readonly logger: Logger;
  /** Name of the NOTIFY channel, which processes share (default `kiln`). */
  readonly channel?: string;
}

/** Connects and listens. Rejects when the database does not answer. */
export async function createEventBus({
  database,
  logger,
  channel = 'kiln',
}: EventBusOptions): Promise<EventBus> {
  const origin = randomUUID();
  const outbox = createOutbox(origin);
  const listeners = createListeners(logger);

  async function send(payloads: readonly string[]): Promise<void> {
    await database.pool.query('select pg_notify($1, payload) from unnest($2::text[]) as payload', [
      channel,
      payloads,
    ]);
  }

  function receive(payload: string): void {
    const message = readMessage(payload);
    if (!message) {
      logger.warn({ channel, bytes: payload.length }, 'ignored a notification that is not ours');
      return;
    }
    if (message.origin === origin) return;
    if (message.gap) listeners.notifyGap();
    for (const entry of message.entries) listeners.deliver(...entry);
  }

  const sender = createSender({ send, outbox, logger });
  const connection = await createListeningConnection({
    config: database.config,
    channel,
    logger,
    onPayload: receive,
    onReconnect: () => listeners.notifyGap(),
  });
  let closing: Promise<void> | undefined;
  return {
    publish(topic, key, version) {
      outbox.add(topic, key, version);
      sender.wake();
      listeners.deliver(topic, key, version);
    },
    listen: (topic, listener) => listeners.listen(topic, listener),
    onGap: (listener) => listeners.onGap(listener),
    listenerCount: () => listeners.count(),
    close() {
      closing ??= Promise.all([sender.close(), connection.close()]).then(() => listeners.clear());
      return closing;
    },
  };
}
