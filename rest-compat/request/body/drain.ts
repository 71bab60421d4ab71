import type { IncomingMessage } from 'node:http';

const drainCeilingMs = 30_000;

/**
 * Lets the rest of an unread body flow away, so that a client that only reads after writing gets its answer. After
 * half a minute the connection is cut instead.
 */
export function drain(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.destroy(), drainCeilingMs);
  timer.unref();
  request.once('close', () => clearTimeout(timer));
  request.once('end', () => clearTimeout(timer));
  // A cut connection while draining is nobody's error any more.
  request.on('error', () => clearTimeout(timer));
  request.resume();
}
