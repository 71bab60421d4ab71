import { WebSocket } from 'ws';

/** Between pings; a client that misses one is disconnected. */
const KEEP_ALIVE_MS = 12_000;
/** A look that comes later than this was held up: answers to the last ping may lie unread. */
const LATE_MS = 1_000;

/** Pings every client, and disconnects one that did not answer the last ping. */
export function keepAlive(clients: ReadonlySet<WebSocket>) {
  const unanswered = new WeakSet<WebSocket>();
  let due = performance.now() + KEEP_ALIVE_MS;
  const timer = setInterval(() => {
    const isLate = performance.now() > due + LATE_MS;
    due = performance.now() + KEEP_ALIVE_MS;
    if (isLate) return;
    for (const client of clients) {
      if (unanswered.has(client)) client.terminate();
      else if (client.readyState === WebSocket.OPEN) {
        unanswered.add(client);
        client.ping();
      }
    }
  }, KEEP_ALIVE_MS);
  timer.unref();
  return {
    watch: (client: WebSocket) => void client.on('pong', () => unanswered.delete(client)),
    close: () => clearInterval(timer),
  };
}
