import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Server as SocketServer } from 'node:net';

import { AppError } from '../errors.ts';
import { isSupervised } from '../process/cluster/messages.ts';
import { requestSlot } from '../request-slot.ts';

/** Starting and stopping HTTP servers, and clients that disconnect. */

/** Longer than the idle timeout of common load balancers (60 s) and of our own clients, so that they close first. */
export const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Most connections that wait to be accepted, as far as the system allows: a crowd comes while other work is being done. */
const BACKLOG = 4_096;
/** Interval in which a stopping server closes idle connections. */
const SWEEP_MS = 50;

/**
 * Starts listening; port 0 takes a free one, and `holder` hands over the socket that it listens on. Returns the URL;
 * rejects when the address is not available.
 */
export async function listenOn(
  server: Server,
  host: string,
  port: number,
  holder?: SocketServer,
): Promise<{ url: string }> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(listenFailure(error, host, port));
    const succeed = () => {
      server.off('error', fail);
      resolve();
    };
    server.once('error', fail);
    if (holder === undefined) server.listen({ port, host, backlog: BACKLOG, ...sharing() }, succeed);
    else server.listen(holder, BACKLOG, succeed);
  });
  const { address, family, port: actual } = server.address() as AddressInfo;
  return { url: `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}` };
}

/**
 * Processes of one port (PROCESSES) each have a socket of their own where the kernel spreads connections over them: node:cluster,
 * which does elsewhere, loses those that it hands to a process that has just died.
 */
function sharing(): { readonly exclusive?: true; readonly reusePort?: true } {
  return isSupervised && process.platform === 'linux' ? { exclusive: true, reusePort: true } : {};
}

function listenFailure(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} of ${host} is in use by another program: stop it, or set PORT to another one`,
    EACCES: `port ${port} of ${host} may not be used by this user: set PORT to 1024 or more`,
    EADDRNOTAVAIL: `${host} is no address of this machine: set HOST to one that is`,
  };
  const reason = reasons[error.code ?? ''];
  return reason === undefined ? error : new AppError('UNAVAILABLE', reason, { cause: error });
}

/** Stops accepting connections; resolves when the last one has ended, busy ones after their response. */
export async function stopAccepting(server: Server): Promise<void> {
  if (!server.listening) return;
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('Connection', 'close');
  });
  // A connection whose response began before stays open for the next request; it is closed when idle.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  clearInterval(sweep);
}

/**
 * Calls a listener once when a message or response has closed; at once where it has closed already. A client may hang up during any
 * `await`, and 'close' is not emitted again for who listens later.
 */
export function whenClosed(closing: IncomingMessage | ServerResponse, listener: () => void): void {
  if (closing.closed) listener();
  else closing.once('close', listener);
}

/** Whether a pipeline to a response failed because its client has left, or its source was aborted for that. */
export function isHangUp(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'AbortError' || ('code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE');
}

/** A signal that is aborted when the client disconnects before the response is sent. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  whenClosed(response, () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}

/** What handlers learn of a request, for the metrics and the log line that are written when its response ends. */
interface RequestFacts {
  /** The template of its path, which bounds the values of a label. */
  readonly route?: string;
  /** Root fields of a GraphQL operation that changes something. */
  readonly changes?: readonly string[];
}

const facts = requestSlot<ServerResponse, RequestFacts>('facts');

/** Adds facts to a request, by its response; changes to those that are known. */
export function noteRequest(response: ServerResponse, more: RequestFacts): void {
  const known = facts.of(response);
  const changes = more.changes && [...(known?.changes ?? []), ...more.changes];
  facts.keep(response, { ...known, ...more, ...(changes && { changes }) });
}

/** What is known of a request. */
export function readFacts(response: ServerResponse): RequestFacts {
  return facts.of(response) ?? {};
}

/** Reads the body of a request; null when it is larger than `maxBytes`. */
export async function readRequestBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return null;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
