import type { Server } from 'node:http';

import { stopAccepting } from '../../platform/http/server.ts';
import type { ResponseStreams } from '../transports/streams/response-stream.ts';
import type { WebSocketTransport } from '../transports/websocket/websocket.ts';

/** What a server that stops has open. */
interface Open {
  readonly httpServer: Server;
  readonly streams: ResponseStreams;
  readonly sockets: WebSocketTransport;
  readonly options: DrainOptions;
}

/** How a server stops. */
export interface DrainOptions {
  /** Milliseconds in which it still serves when it is to stop, and says that it is not ready (default 0). */
  readonly stillServeMs?: number;
  /** Called when requests that wait for work shall answer, because the server stops (default: nobody waits). */
  readonly endWaits?: () => void;
  /** Milliseconds for running requests when the server stops (default 10,000). */
  readonly drainMs?: number;
}

/** Milliseconds for the answers of requests that no longer wait. */
const LAST_ANSWERS_MS = 2_000;

/** Ends what is open: sockets and streams now, requests as they end, the rest when their time is up. */
export async function drain({
  httpServer,
  streams,
  sockets,
  options: { drainMs = 10_000, endWaits },
}: Open): Promise<void> {
  const closed = stopAccepting(httpServer);
  streams.endAll();
  const answer = setTimeout(() => endWaits?.(), Math.max(0, drainMs - LAST_ANSWERS_MS));
  const cut = setTimeout(() => httpServer.closeAllConnections(), drainMs);
  await sockets.close(Math.min(drainMs, 2_000));
  await closed;
  clearTimeout(answer);
  clearTimeout(cut);
}
