import { Client, type PoolConfig } from 'pg';

import type { Database } from '../../database/database.ts';
import { toError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';
import type { EventBus } from '../event-bus.ts';
import { createLastingConnection, type LastingConnection } from '../wake-ups/lasting-connection.ts';
import { createWakeUpBus } from '../wake-ups/wake-up-bus.ts';

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

/**
 * One connection that listens for NOTIFY and reconnects when it is lost. It must be a direct connection: a pooler in
 * transaction mode loses LISTEN.
 */
interface ListeningOptions {
  readonly config: PoolConfig;
  readonly channel: string;
  readonly logger: Logger;
  readonly onPayload: (payload: string) => void;
  /** Called when the connection listens again after a loss: notifications in between are lost. */
  readonly onReconnect: () => void;
}

/** The listening connection, which reconnects when it breaks. */
type ListeningConnection = Pick<LastingConnection<Client>, 'close'>;

/** Interval of queries that detect a dead connection (a router that dropped it). */
const KEEP_ALIVE_MS = 10_000;

/** Connects and listens; rejects when the first attempt fails. */
function createListeningConnection(options: ListeningOptions): Promise<ListeningConnection> {
  const { logger, onReconnect } = options;
  return createLastingConnection({
    connect: (lost) => connect(options, lost),
    end: endQuietly,
    logger,
    onReconnect,
    mustConnect: true,
  });
}

/** Connects a client that listens. `onLost` is called once, when it is lost without having been closed. */
async function connect(options: ListeningOptions, onLost: (error?: Error) => void): Promise<Client> {
  const { statement_timeout: _, ...config } = options.config;
  const client = new Client({ ...config, query_timeout: 5000 });
  let failure: Error | undefined;
  let listening = false;
  let keepAlive: NodeJS.Timeout | undefined;
  client.on('error', (error) => {
    failure = error;
    // A query without an answer leaves the socket open: the client is ended here.
    void endQuietly(client);
  });
  client.on('end', () => {
    clearInterval(keepAlive);
    if (listening) onLost(failure);
    listening = false;
  });
  client.on('notification', ({ payload = '' }) => options.onPayload(payload));
  try {
    await client.connect();
    await client.query(`listen ${client.escapeIdentifier(options.channel)}`);
  } catch (thrown) {
    await endQuietly(client);
    throw thrown;
  }
  listening = true;
  keepAlive = setInterval(() => {
    client.query('select 1').catch((thrown: unknown) => client.emit('error', toError(thrown)));
  }, KEEP_ALIVE_MS);
  keepAlive.unref();
  return client;
}

/** Ends a connection, which may be broken already. */
async function endQuietly(client: Client): Promise<void> {
  await client.end().catch(() => undefined);
}
