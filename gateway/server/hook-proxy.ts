import type { IncomingMessage, ServerResponse } from 'node:http';

import { anonymousCaller } from '../../platform/access/caller.ts';
import { AppError } from '../../platform/errors.ts';
import {
  bytesHash,
  CALLER_HEADER,
  type CallerSigner,
} from '../../platform/graphql/assertions/caller-assertion.ts';
import type { Endpoints } from '../../platform/http/endpoints/endpoints.ts';
import { createPools, type Pools, sendToOne } from '../../platform/http/endpoints/failover.ts';
import { whenClosed } from '../../platform/http/server.ts';
import { newTraceId } from '../../platform/ids.ts';

/** Forwards provider webhooks to the media process of a split system, which knows the attempts and their keys. */
export interface HookProxy {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  close(): Promise<void>;
}

export interface HookProxyOptions {
  /** The processes of the media subgraph. */
  readonly media: Endpoints;
  /** Makes the assertions without which media answers nobody. */
  readonly sign: CallerSigner;
}

const TIMEOUT_MS = 20_000;
/** Largest webhook in bytes. */
const MAX_BYTES = 1024 * 1024;
/** Largest response: an echoed challenge. */
const MAX_ANSWER = 1024 * 1024 + 1024;
/** Headers that are not forwarded: about the connection, or credentials. */
const DROPPED =
  /^(connection|keep-alive|transfer-encoding|upgrade|te|host|expect|cookie|authorization|x-kiln-.*)$/;

/** Makes the proxy over a small connection pool, which `close` ends. */
export function createHookProxy({ media, sign }: HookProxyOptions): HookProxy {
  const pools = createPools(media, {
    connections: 16,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    maxResponseSize: MAX_ANSWER,
  });
  return {
    async handle(request, response) {
      const disconnected = new AbortController();
      whenClosed(response, () => disconnected.abort());
      const { status, headers, body } = await forward(request, {
        media,
        pools,
        sign,
        signal: disconnected.signal,
      });
      const forwarded = ['content-type', 'retry-after', 'allow'].flatMap((name) =>
        headers[name] === undefined ? [] : [[name, String(headers[name])]],
      );
      response.writeHead(status, { 'cache-control': 'no-store', ...Object.fromEntries(forwarded) }).end(body);
    },
    close: () => pools.close(),
  };
}

interface Forwarding {
  readonly media: Endpoints;
  readonly pools: Pools;
  readonly sign: CallerSigner;
  readonly signal: AbortSignal;
}

async function forward(request: IncomingMessage, { media, pools, sign, signal }: Forwarding) {
  const headers = Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      value === undefined || DROPPED.test(name) ? [] : [[name, String(value)]],
    ),
  );
  try {
    const method = request.method === 'POST' ? 'POST' : 'GET';
    const target = { method, path: request.url ?? '/' } as const;
    const body = method === 'POST' ? await readBytes(request) : null;
    const asserted = await sign(anonymousCaller(newTraceId(), null), {
      ...target,
      body: body && bytesHash(body),
    });
    const asked = { ...target, headers: { ...headers, [CALLER_HEADER]: asserted }, body, signal };
    const answer = await sendToOne({
      endpoints: media,
      signal,
      again: 'unsent',
      send: (endpoint) => pools.of(endpoint).request(asked),
    });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    return { status: answer.statusCode, headers: answer.headers, body: bytes };
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError('UNAVAILABLE', 'provider webhooks are not accepted right now', {
      retryAfter: 2,
      cause,
    });
  }
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new AppError('PAYLOAD_TOO_LARGE', `a webhook has at most ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
