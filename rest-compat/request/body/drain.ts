import type { IncomingMessage } from 'node:http';

const drainCeilingMs = 30_000;

/**
 * Discards the rest of an unread body, so that a client that reads only after writing gets the response. After half a
 * minute the connection is closed instead.
 */
export function drain(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.destroy(), drainCeilingMs);
  timer.unref();
  request.once('close', () => clearTimeout(timer));
  request.once('end', () => clearTimeout(timer));
  // An error while draining concerns nobody any more.
  request.on('error', () => clearTimeout(timer));
  request.resume();
}
