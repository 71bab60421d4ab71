import type { Duplex } from 'node:stream';

import type { WebSocket } from 'ws';

import type { Logger } from '../../../platform/process/logger.ts';

/** Cuts off WebSocket clients that do not read. Their operations wait meanwhile (one unsent event each). */
export interface SlowSockets {
  watch(client: WebSocket, socket: Duplex): void;
  close(): void;
}

/** Bytes that may wait for one client whatever it does; a flood of pings would otherwise pile up answers. */
const MAX_BUFFERED_BYTES = 16_000_000;
/** "Try again later": graphql-ws clients reconnect after it. */
const TRY_AGAIN_LATER = 1013;
const REASON = 'too slow: come back and resume with afterSeq';

interface Watched {
  readonly socket: Duplex & { readonly bytesWritten?: number };
  /** Bytes that had left for the client at the last look. */
  sent: number;
  /** When it last took something, or had nothing to take. */
  movedAt: number;
}

/** Starts watching; one timer looks at all sockets. */
export function watchSlowSockets(options: {
  readonly sockets: ReadonlySet<WebSocket>;
  /** Milliseconds without any byte taken, while some wait, after which a client is cut off. */
  readonly stallMs: number;
  readonly logger: Logger;
}): SlowSockets {
  const { sockets, stallMs, logger } = options;
  const watched = new WeakMap<WebSocket, Watched>();

  function cutOff(client: WebSocket, why: string): void {
    logger.warn(
      { why, bufferedBytes: client.bufferedAmount },
      'cut off a WebSocket client that does not read',
    );
    client.close(TRY_AGAIN_LATER, REASON);
    // It does not read the close frame either, most likely.
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
      } else if (now - state.movedAt >= stallMs) cutOff(client, 'stalled');
    }
  }

  const timer = setInterval(look, Math.max(10, stallMs / 6));
  timer.unref();
  return {
    watch(client, socket) {
      watched.set(client, { socket, sent: 0, movedAt: performance.now() });
      client.on('message', () => {
        if (client.bufferedAmount > MAX_BUFFERED_BYTES && watched.has(client)) cutOff(client, 'buffer full');
      });
    },
    close: () => clearInterval(timer),
  };
}
