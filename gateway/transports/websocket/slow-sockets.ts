import type { Duplex } from 'node:stream';

import type { WebSocket } from 'ws';

import type { Logger } from '../../../platform/process/logger.ts';

/** Disconnects WebSocket clients that do not read. Their operations wait (one unsent event each). */
export type SlowSockets = ReturnType<typeof watchSlowSockets>;

/**
 * Most unsent bytes of one client; a flood of pings would otherwise pile up pongs. An answer that waits takes several times
 * its bytes of memory, because what it was made of waits with it.
 */
const MAX_BUFFERED_BYTES = 8_000_000;
/** What a client that reads may have waiting at any time. */
const USUAL_BYTES = 250_000;
/** Milliseconds for which a sum over all clients is good enough. */
const SUM_MS = 50;
/** "Try again later": graphql-ws clients reconnect after it. */
const TRY_AGAIN_LATER = 1013;
const REASON = 'too slow: reconnect and resume with afterSeq';

interface Watched {
  readonly socket: Duplex & { readonly bytesWritten?: number };
  /** Bytes sent at the last check. */
  sent: number;
  /** When bytes were last sent, or none were waiting. */
  movedAt: number;
}

/** Starts watching; one timer checks all sockets. */
export function watchSlowSockets(options: {
  readonly sockets: ReadonlySet<WebSocket>;
  /** Milliseconds without progress, while bytes wait, after which a client is disconnected (default 30,000). */
  readonly stallMs?: number;
  /** Most unsent bytes of all clients together: who adds to them then is disconnected (default 48,000,000). */
  readonly unreadBytes?: number | undefined;
  readonly logger: Logger;
}) {
  const { sockets, stallMs = 30_000, unreadBytes = 48_000_000, logger } = options;
  const watched = new WeakMap<WebSocket, Watched>();

  function disconnect(client: WebSocket, why: string): void {
    logger.warn(
      { why, bufferedBytes: client.bufferedAmount },
      'disconnected a WebSocket client that does not read',
    );
    client.close(TRY_AGAIN_LATER, REASON);
    // It probably does not read the close frame either.
    setTimeout(() => client.terminate(), Math.min(stallMs, 1_000)).unref();
    watched.delete(client);
  }

  function look(): void {
    const now = performance.now();
    for (const client of sockets) {
      const state = watched.get(client);
      if (state === undefined) continue;
      const sent = (state.socket.bytesWritten ?? 0) - client.bufferedAmount;
      if (client.bufferedAmount === 0 || sent !== state.sent) {
        state.sent = sent;
        state.movedAt = now;
      } else if (now - state.movedAt >= stallMs) disconnect(client, 'stalled');
    }
  }

  let sum = 0;
  let summedAt = -SUM_MS;
  function waitingInAll(): number {
    const now = performance.now();
    if (now - summedAt < SUM_MS) return sum;
    summedAt = now;
    sum = 0;
    for (const client of sockets) sum += client.bufferedAmount;
    return sum;
  }

  const timer = setInterval(look, Math.max(10, stallMs / 6));
  timer.unref();
  return {
    watch(client: WebSocket, socket: Duplex): void {
      watched.set(client, { socket, sent: 0, movedAt: performance.now() });
      client.on('message', () => {
        if (client.bufferedAmount > MAX_BUFFERED_BYTES && watched.has(client))
          disconnect(client, 'buffer full');
      });
    },
    /**
     * Whether one more message may wait for a client. Not when too much waits for it already, or for all clients together:
     * then it is disconnected.
     */
    admits(client: WebSocket): boolean {
      const waiting = client.bufferedAmount;
      if (waiting < USUAL_BYTES) return true;
      const isTooMuch = waiting > MAX_BUFFERED_BYTES;
      if (!isTooMuch && waitingInAll() < unreadBytes) return true;
      if (watched.has(client)) disconnect(client, isTooMuch ? 'buffer full' : 'all buffers full');
      return false;
    },
    close: () => clearInterval(timer),
  };
}
