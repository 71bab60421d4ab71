import { Client, type PoolConfig } from 'pg';

import { toError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';

/**
 * One connection that listens for NOTIFY and reconnects when it is lost. It must be a direct connection: a pooler in
 * transaction mode loses LISTEN.
 */
export interface ListeningOptions {
  readonly config: PoolConfig;
  readonly channel: string;
  readonly logger: Logger;
  readonly onPayload: (payload: string) => void;
  /** Called when the connection listens again after a loss: notifications in between are lost. */
  readonly onReconnect: () => void;
}

/** The listening connection, which reconnects when it breaks. */
export interface ListeningConnection {
  close(): Promise<void>;
}

/** First and longest pause between attempts to reconnect. */
const RETRY_MS = { first: 100, longest: 5000 } as const;
/** Interval of queries that detect a dead connection (a router that dropped it). */
const KEEP_ALIVE_MS = 10_000;

/** Connects and listens; rejects when the first attempt fails. */
export async function createListeningConnection(options: ListeningOptions): Promise<ListeningConnection> {
  const { logger, onReconnect } = options;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let pause: number = RETRY_MS.first;
  let client = await connect(options, lost);

  function lost(error: Error | undefined): void {
    if (closed || timer) return;
    logger.warn({ error }, 'lost the connection for wake-ups');
    plan();
  }

  function plan(): void {
    timer = setTimeout(() => void again(), pause);
    pause = Math.min(pause * 2, RETRY_MS.longest);
  }

  async function again(): Promise<void> {
    try {
      const fresh = await connect(options, lost);
      timer = undefined;
      if (closed) {
        await endQuietly(fresh);
        return;
      }
      client = fresh;
      pause = RETRY_MS.first;
      logger.info('listening for wake-ups again');
      onReconnect();
    } catch (thrown) {
      logger.debug({ error: toError(thrown) }, 'cannot listen for wake-ups yet');
      if (closed) timer = undefined;
      else plan();
    }
  }

  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await endQuietly(client);
    },
  };
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
