import type { Database } from '../../database/database.ts';
import type { Logger } from '../../process/logger.ts';
import type { EventBus } from '../event-bus.ts';
import { createWakeUpBus } from '../wake-ups/wake-up-bus.ts';
import { createListeningConnection } from './listening-connection.ts';

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
  const wakeUps = createWakeUpBus({
    logger,
    async send(payloads) {
      await database.pool.query('select pg_notify($1, payload) from unnest($2::text[]) as payload', [
        channel,
        payloads,
      ]);
    },
  });
  const connection = await createListeningConnection({
    config: database.config,
    channel,
    logger,
    onPayload: (payload) => wakeUps.receive(payload),
    onReconnect: () => wakeUps.restored(),
  });
  let closing: Promise<void> | undefined;
  return {
    ...wakeUps.bus,
    close() {
      closing ??= Promise.all([wakeUps.flush(), connection.close()]).then(() => wakeUps.clear());
      return closing;
    },
  };
}
