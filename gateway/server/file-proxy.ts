import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

import { Pool } from 'undici';

import { AppError, toError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/process/logger.ts';

/** Forwards /files/* to the media process of a split system; streams the bytes, with range and caching headers. */
export interface FileProxy {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  close(): Promise<void>;
}

export interface FileProxyOptions {
  /** The media subgraph's GraphQL URL; its files are at the same origin. */
  readonly mediaUrl: string;
  readonly logger: Logger;
}

const FORWARDED = ['range', 'if-range', 'if-none-match', 'if-modified-since', 'accept'] as const;
const HEADERS_TIMEOUT_MS = 15_000;
const CHUNK_TIMEOUT_MS = 60_000;

/** Makes the proxy over a connection pool, which `close` ends. */
export function createFileProxy({ mediaUrl, logger }: FileProxyOptions): FileProxy {
  const { origin } = new URL(mediaUrl);
  const pool = new Pool(origin, {
    connections: 64,
    headersTimeout: HEADERS_TIMEOUT_MS,
    bodyTimeout: CHUNK_TIMEOUT_MS,
  });
  return {
    async handle(request, response) {
      const disconnected = new AbortController();
      response.once('close', () => disconnected.abort());
      const answer = await forward(pool, request, disconnected.signal);
      response.writeHead(answer.statusCode, withoutHopByHop(answer.headers));
      try {
        await pipeline(answer.body, response);
      } catch (thrown) {
        // The client left, or media failed after the headers: the connection is cut.
        if (!disconnected.signal.aborted) logger.warn({ error: toError(thrown) }, 'forwarding a file failed');
        response.destroy();
      }
    },
    close: () => pool.close(),
  };
}

async function forward(pool: Pool, request: IncomingMessage, signal: AbortSignal) {
  const headers = Object.fromEntries(
    FORWARDED.flatMap((name) =>
      request.headers[name] === undefined ? [] : [[name, String(request.headers[name])]],
    ),
  );
  try {
    const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
    return await pool.request({ method, path: request.url ?? '/', headers, signal });
  } catch (cause) {
    throw new AppError('UNAVAILABLE', 'files are not available right now', { retryAfter: 2, cause });
  }
}

function withoutHopByHop(headers: Readonly<Record<string, string | string[] | undefined>>) {
  const {
    connection: _connection,
    'keep-alive': _keepAlive,
    'transfer-encoding': _encoding,
    ...forwarded
  } = headers;
  return forwarded;
}
