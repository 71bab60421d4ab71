import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { Pool } from 'undici';

import { AppError, toError } from '../../platform/errors.ts';
import { isHangUp, whenClosed } from '../../platform/http/server.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { Exchange } from '../request/steps.ts';
import type { Cells } from './cells-file.ts';

/** Passes requests on to other cells as they came, and their answers back, both as streams. */
export type CellProxy = ReturnType<typeof createCellProxy>;

/** Says which cell passed a request on: it is passed on once. */
export const PASSED_ON = 'x-kiln-passed-on';

/** Longer than synchronous requests wait for their work, and than the interval of a stream's heartbeats. */
const HEADERS_TIMEOUT_MS = 3_700_000;
const BODY_TIMEOUT_MS = 120_000;
const CONNECTIONS = 256;

const OF_THE_CONNECTION =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|expect)$/;

/** Makes the proxy; each cell has a connection pool, made with its first request. */
export function createCellProxy({ cells, logger }: { readonly cells: Cells; readonly logger: Logger }) {
  const pools = new Map<number, Pool>();
  const findPool = (cell: number): Pool => {
    const pool =
      pools.get(cell) ??
      new Pool(new URL(cells.urls.get(cell) ?? '').origin, {
        connections: CONNECTIONS,
        headersTimeout: HEADERS_TIMEOUT_MS,
        bodyTimeout: BODY_TIMEOUT_MS,
      });
    pools.set(cell, pool);
    return pool;
  };
  return {
    /** Resolves when the response has ended. Throws UNAVAILABLE where the cell does not answer. */
    async passOn({ request, response, path }: Exchange, cell: number): Promise<void> {
      const left = new AbortController();
      whenClosed(response, () => left.abort());
      const { method = 'GET', url = '/' } = request;
      const query = url.includes('?') ? url.slice(url.indexOf('?')) : '';
      const answer = await orUnavailable(cell, () =>
        findPool(cell).request({
          method,
          path: `${new URL(cells.urls.get(cell) ?? '').pathname.replace(/\/$/, '')}${path}${query}`,
          headers: passedHeaders(request, cells.own),
          body: readBody(request),
          signal: left.signal,
        }),
      );
      try {
        response.writeHead(answer.statusCode, withoutConnection(answer.headers));
        await pipeline(answer.body, response);
      } catch (thrown) {
        if (!isHangUp(thrown)) logger.warn({ error: toError(thrown), cell }, 'passing on an answer failed');
        response.destroy();
      }
    },
    async close(): Promise<void> {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}

/** As they came, with the caller's address. The other cell must trust this one (TRUST_PROXY) to count by it. */
function passedHeaders({ headers, socket }: IncomingMessage, own: number) {
  const before = headers['x-forwarded-for'];
  return {
    ...withoutConnection(headers),
    'x-forwarded-for': [before ?? [], socket.remoteAddress ?? []].flat().join(', '),
    [PASSED_ON]: String(own),
  };
}

function readBody(request: IncomingMessage): Readable | null {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  return (length === undefined || length === '0') && encoding === undefined ? null : request;
}

function withoutConnection(headers: Readonly<Record<string, string | string[] | undefined>>) {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.test(name)),
  ) as Record<string, string | string[]>;
}

async function orUnavailable<Answer>(cell: number, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (cause) {
    throw new AppError('UNAVAILABLE', `cell ${cell}, which this belongs to, does not answer now: try again`, {
      retryAfter: 2,
      cause,
    });
  }
}
