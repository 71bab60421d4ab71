import type { IncomingMessage, ServerResponse } from 'node:http';

import { Pool } from 'undici';

import { AppError } from '../../platform/errors.ts';

/** Forwards provider webhooks to the media process of a split system, which knows the attempts and their keys. */
export interface HookProxy {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 20_000;
/** Largest response: an echoed challenge. */
const MAX_ANSWER = 1024 * 1024 + 1024;
/** Headers that are not forwarded: about the connection, or credentials. */
const DROPPED =
  /^(connection|keep-alive|transfer-encoding|upgrade|te|host|expect|cookie|authorization|x-kiln-.*)$/;

/** Makes the proxy over a small connection pool, which `close` ends. */
export function createHookProxy({ mediaUrl }: { readonly mediaUrl: string }): HookProxy {
  const { origin } = new URL(mediaUrl);
  const pool = new Pool(origin, {
    connections: 16,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    maxResponseSize: MAX_ANSWER,
  });
  return {
    async handle(request, response) {
      const disconnected = new AbortController();
      response.once('close', () => disconnected.abort());
      const { status, headers, body } = await forward(pool, request, disconnected.signal);
      const forwarded = ['content-type', 'retry-after', 'allow'].flatMap((name) =>
        headers[name] === undefined ? [] : [[name, String(headers[name])]],
      );
      response.writeHead(status, { 'cache-control': 'no-store', ...Object.fromEntries(forwarded) }).end(body);
    },
    close: () => pool.close(),
  };
}

async function forward(pool: Pool, request: IncomingMessage, signal: AbortSignal) {
  const headers = Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      value === undefined || DROPPED.test(name) ? [] : [[name, String(value)]],
    ),
  );
  try {
    const method = request.method === 'POST' ? 'POST' : 'GET';
    const body = method === 'POST' ? request : null;
    const answer = await pool.request({ method, path: request.url ?? '/', headers, body, signal });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    return { status: answer.statusCode, headers: answer.headers, body: bytes };
  } catch (cause) {
    throw new AppError('UNAVAILABLE', 'provider webhooks are not accepted right now', {
      retryAfter: 2,
      cause,
    });
  }
}
