import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

import type { Logger } from '../../platform/process/logger.ts';

/** What answers over HTTP may take of memory while their clients do not read them. */
export interface SlowReaderOptions {
  /** Milliseconds without progress, while much waits, after which a client is disconnected (default 30,000). */
  readonly stallMs?: number | undefined;
  /** Most bytes that wait for all clients together (default 48,000,000). */
  readonly unreadBytes?: number | undefined;
  readonly logger: Logger;
}

/** What a client that reads may have waiting at any time. */
const USUAL_BYTES = 250_000;
const POLL_INTERVAL_MS = 250;

interface Watched {
  /** Bytes that the system has taken, at the last look. */
  taken: number;
  /** When it took any, or little was waiting. */
  movedAt: number;
}

/**
 * Disconnects clients that do not read their answers: each after a while, and when too much waits for all together at once,
 * who has read nothing for longest first. WebSockets have a watch of their own.
 */
export function endSlowReaders(
  server: Server,
  { stallMs = 30_000, unreadBytes = 48_000_000, logger }: SlowReaderOptions,
): void {
  const watched = new Map<Socket, Watched>();

  function disconnect(socket: Socket, why: string): void {
    const waiting = socket.writableLength;
    logger.warn({ why, bufferedBytes: waiting }, 'disconnected a client that does not read its answer');
    watched.delete(socket);
    socket.destroy();
  }
  function look(): void {
    const now = performance.now();
    const slow: (readonly [Socket, Watched])[] = [];
    let sum = 0;
    for (const [socket, state] of watched) {
      const waiting = socket.writableLength;
      if (waiting < USUAL_BYTES) {
        state.movedAt = now;
        continue;
      }
      const taken = socket.bytesWritten - waiting;
      if (taken !== state.taken) Object.assign(state, { taken, movedAt: now });
      if (now - state.movedAt >= stallMs) disconnect(socket, 'stalled');
      else {
        sum += waiting;
        slow.push([socket, state]);
      }
    }
    if (sum <= unreadBytes) return;
    // Of those that stand as long, the one for whom most waits.
    slow.sort(
      ([one, { movedAt: a }], [other, { movedAt: b }]) => a - b || other.writableLength - one.writableLength,
    );
    for (const [socket] of slow) {
      if (sum <= unreadBytes) return;
      sum -= socket.writableLength;
      disconnect(socket, 'too much waits for all');
    }
  }

  server.on('connection', (socket: Socket) => {
    watched.set(socket, { taken: 0, movedAt: performance.now() });
    socket.once('close', () => watched.delete(socket));
  });
  server.on('upgrade', ({ socket }: IncomingMessage) => void watched.delete(socket));
  const timer = setInterval(look, POLL_INTERVAL_MS);
  timer.unref();
  server.once('close', () => clearInterval(timer));
}
