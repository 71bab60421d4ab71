import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import pTimeout from 'p-timeout';

import { AppError, toError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';
import type { EventBus } from '../event-bus.ts';
import { createLastingConnection } from '../wake-ups/lasting-connection.ts';
import { createWakeUpBus } from '../wake-ups/wake-up-bus.ts';

/**
 * The event bus on NATS, for more processes and wake-ups than NOTIFY of one PostgreSQL carries. Wake-ups have no content
 * and the rows stay the truth: while NATS is away whoever waits reads them on a slow tick, what this process would have
 * told waits (the latest version of each key), and when NATS is back everybody reads everything again.
 */
export interface NatsEventBusOptions {
  /** EVENTS_URL: servers of one cluster, with one path, which names the subject. */
  readonly urls: readonly string[];
  readonly logger: Logger;
}

/** Longest time that a connection, or a batch of wake-ups, may take. */
const ANSWER_MS = 5_000;
/** Pings that detect a dead connection: lost after two without an answer. */
const PING_MS = 10_000;

/** Connects, for at most 5 s; without NATS the bus starts all the same, and connects later. */
export async function createNatsEventBus({ urls, logger }: NatsEventBusOptions): Promise<EventBus> {
  const subject = readSubject(urls);
  const wakeUps = createWakeUpBus({ logger, send });
  const connection = await createLastingConnection<NatsConnection>({
    async connect(lost) {
      const nats = await connect(connectionOptions(urls));
      nats.subscribe(subject, {
        callback(error, message) {
          if (error === null) wakeUps.receive(message.string());
        },
      });
      await nats.flush();
      // The library's own reconnecting keeps what is published meanwhile without a bound: each connection is a new one.
      void nats.closed().then((thrown) => lost(thrown ? toError(thrown) : undefined));
      return nats;
    },
    end: (nats) => nats.close().catch(() => undefined),
    logger,
    onReconnect: () => wakeUps.restored(),
    mustConnect: false,
  });

  async function send(payloads: readonly string[]): Promise<void> {
    const nats = connection.current();
    if (nats === null) throw new AppError('UNAVAILABLE', 'there is no connection to NATS');
    for (const payload of payloads) nats.publish(subject, payload);
    // The server answers a ping after everything before it: what is not answered is sent again.
    await pTimeout(nats.flush(), { milliseconds: ANSWER_MS });
  }

  let closing: Promise<void> | undefined;
  return {
    ...wakeUps.bus,
    close() {
      closing ??= wakeUps
        .flush()
        .then(() => connection.close())
        .then(() => wakeUps.clear());
      return closing;
    },
  };
}

/** `kiln`, or `kiln.NAME` with the path /NAME: several Kilns may share a server. */
function readSubject([url = '']: readonly string[]): string {
  const name = new URL(url).pathname.replaceAll('/', '');
  return name === '' ? 'kiln' : `kiln.${name}`;
}

/** User, password or token are those of the first address; tls:// asks for TLS. */
function connectionOptions(urls: readonly string[]): NodeConnectionOptions {
  const [first] = urls.map((url) => new URL(url));
  const user = decodeURIComponent(first?.username ?? '');
  const pass = decodeURIComponent(first?.password ?? '');
  return {
    servers: urls.map((url) => new URL(url).host),
    ...(pass !== '' && { user, pass }),
    ...(pass === '' && user !== '' && { token: user }),
    ...(first?.protocol === 'tls:' && { tls: {} }),
    name: 'kiln',
    reconnect: false,
    timeout: ANSWER_MS,
    pingInterval: PING_MS,
    noAsyncTraces: true,
  };
}
