import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { anonymousCaller } from '../../platform/access/caller.ts';
import { AppError, toError } from '../../platform/errors.ts';
import { CALLER_HEADER, type CallerSigner } from '../../platform/graphql/assertions/caller-assertion.ts';
import type { Endpoints } from '../../platform/http/endpoints/endpoints.ts';
import { createPools, type Pools, sendToOne } from '../../platform/http/endpoints/failover.ts';
import { whenClosed } from '../../platform/http/server.ts';
import { newTraceId } from '../../platform/ids.ts';
import type { Logger } from '../../platform/process/logger.ts';

/** Forwards /files/* to the media process of a split system; streams the bytes, with range and caching headers. */
export interface FileProxy {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Opens a file by the path and query of its address, past the store's own; null where there is none. */
  readonly open: (address: string) => Promise<Readable | null>;
  close(): Promise<void>;
}

export interface FileProxyOptions {
  /** The processes of the media subgraph; its files are at the same origins. */
  readonly media: Endpoints;
  /** Makes the assertions without which media answers nobody. */
  readonly sign: CallerSigner;
  readonly logger: Logger;
}

const FORWARDED = ['range', 'if-range', 'if-none-match', 'if-modified-since', 'accept'] as const;
/** Media then sends the bytes itself, where it would redirect to the store. */
const BYTES = { 'x-kiln-bytes': 'true' };
const HEADERS_TIMEOUT_MS = 15_000;
const CHUNK_TIMEOUT_MS = 60_000;

/** Makes the proxy over a connection pool, which `close` ends. */
export function createFileProxy({ media, sign, logger }: FileProxyOptions): FileProxy {
  const pools = createPools(media, {
    connections: 64,
    headersTimeout: HEADERS_TIMEOUT_MS,
    bodyTimeout: CHUNK_TIMEOUT_MS,
  });
  return {
    async handle(request, response) {
      const disconnected = new AbortController();
      whenClosed(response, () => disconnected.abort());
      const answer = await forward(request, { media, pools, sign, signal: disconnected.signal });
      response.writeHead(answer.statusCode, withoutHopByHop(answer.headers));
      try {
        await pipeline(answer.body, response);
      } catch (thrown) {
        // The client left, or media failed after the headers: the connection is cut.
        if (!disconnected.signal.aborted) logger.warn({ error: toError(thrown) }, 'forwarding a file failed');
        response.destroy();
      }
    },
    async open(address) {
      const { signal } = new AbortController();
      const request = { method: 'GET', url: address, headers: BYTES };
      const { statusCode, body } = await forward(request, { media, pools, sign, signal });
      if (statusCode === 200) return body;
      await body.dump();
      if (statusCode < 500) return null;
      throw new AppError('UNAVAILABLE', 'files are not available right now', { retryAfter: 2 });
    },
    close: () => pools.close(),
  };
}

/** What is forwarded of a request. */
type Forwarded = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

interface Forwarding {
  readonly media: Endpoints;
  readonly pools: Pools;
  readonly sign: CallerSigner;
  readonly signal: AbortSignal;
}

async function forward(request: Forwarded, { media, pools, sign, signal }: Forwarding) {
  const headers = Object.fromEntries(
    [...FORWARDED, ...Object.keys(BYTES)].flatMap((name) =>
      request.headers[name] === undefined ? [] : [[name, String(request.headers[name])]],
    ),
  );
  try {
    const target = {
      method: request.method === 'HEAD' ? ('HEAD' as const) : ('GET' as const),
      path: request.url ?? '/',
    };
    // The address is the capability, whoever the caller is.
    const asserted = await sign(anonymousCaller(newTraceId(), null), { ...target, body: null });
    const asked = { ...target, headers: { ...headers, [CALLER_HEADER]: asserted }, signal };
    return await sendToOne({
      endpoints: media,
      signal,
      again: 'always',
      // Not the signal of a lost process: it would cut what is being read.
      send: (endpoint) => pools.of(endpoint).request(asked),
    });
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
