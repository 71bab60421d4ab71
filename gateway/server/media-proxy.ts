import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { anonymousCaller } from '../../platform/access/caller.ts';
import { AppError, toError } from '../../platform/errors.ts';
import {
  bytesHash,
  CALLER_HEADER,
  type CallerSigner,
} from '../../platform/graphql/assertions/caller-assertion.ts';
import type { Endpoints } from '../../platform/http/endpoints/endpoints.ts';
import { createPools, sendToOne } from '../../platform/http/endpoints/failover.ts';
import { isHangUp, readRequestBody, whenClosed } from '../../platform/http/server.ts';
import { newTraceId } from '../../platform/ids.ts';
import type { Logger } from '../../platform/process/logger.ts';

/** Forwards to the media process of a split system what it serves on the public port: files, and provider webhooks. */

/** Where media is, and how it knows who asks. */
interface MediaOptions {
  /** The processes of the media subgraph; files and webhooks are at the same origins. */
  readonly media: Endpoints;
  /** Makes the assertions without which media answers nobody. */
  readonly sign: CallerSigner;
}

/** Forwards /hooks/*: media knows the attempts and their keys. */
export interface HookProxy {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  close(): Promise<void>;
}

/** Forwards /files/*; streams the bytes, with range and caching headers. */
export interface FileProxy extends HookProxy {
  /** Opens a file by the path and query of its address, past the store's own; null where there is none. */
  readonly open: (address: string) => Promise<Readable | null>;
}

/** Media then sends the bytes itself, where it would redirect to the store. */
const BYTES = { 'x-kiln-bytes': 'true' };
const FILE_HEADERS = new Set([
  'range',
  'if-range',
  'if-none-match',
  'if-modified-since',
  'accept',
  ...Object.keys(BYTES),
]);
const FILES = {
  isForwarded: (name: string) => FILE_HEADERS.has(name),
  again: 'always',
  pools: { connections: 64, headersTimeout: 15_000, bodyTimeout: 60_000 },
} as const satisfies Forwarding;
const FILES_AWAY = 'files are not available right now';
/** Makes the proxy of files over a connection pool, which `close` ends. */
export function createFileProxy(options: MediaOptions & { readonly logger: Logger }): FileProxy {
  const media = createForwarder(options, FILES);
  return {
    async handle({ method: verb, url = '/', headers }, response) {
      const signal = disconnected(response);
      const method = verb === 'HEAD' ? 'HEAD' : 'GET';
      const request = { method, path: url, headers, body: null, signal } as const;
      const answer = await orUnavailable(FILES_AWAY, () => media.forward(request));
      response.writeHead(answer.statusCode, withoutHopByHop(answer.headers));
      try {
        await pipeline(answer.body, response);
      } catch (thrown) {
        // The client left, or media failed after the headers: the connection is cut.
        if (!isHangUp(thrown)) options.logger.warn({ error: toError(thrown) }, 'forwarding a file failed');
        response.destroy();
      }
    },
    async open(address) {
      const { signal } = new AbortController();
      const request = { method: 'GET', path: address, headers: BYTES, body: null, signal } as const;
      const { statusCode, body } = await orUnavailable(FILES_AWAY, () => media.forward(request));
      if (statusCode === 200) return body;
      await body.dump();
      if (statusCode < 500) return null;
      throw new AppError('UNAVAILABLE', FILES_AWAY, { retryAfter: 2 });
    },
    close: () => media.close(),
  };
}

const MAX_HOOK_BYTES = 1024 * 1024;
const HOOKS = {
  // Not what is about the connection, and no credentials.
  isForwarded: (name: string) =>
    !/^(connection|keep-alive|transfer-encoding|upgrade|te|host|expect|cookie|authorization|x-kiln-.*)$/.test(
      name,
    ),
  again: 'unsent',
  // The largest response is an echoed challenge.
  pools: {
    connections: 16,
    headersTimeout: 20_000,
    bodyTimeout: 20_000,
    maxResponseSize: MAX_HOOK_BYTES + 1024,
  },
} as const satisfies Forwarding;
const HOOKS_AWAY = 'provider webhooks are not accepted right now';
const HOOK_ANSWER_HEADERS = ['content-type', 'retry-after', 'allow'];

/** Makes the proxy of webhooks over a small connection pool, which `close` ends. */
export function createHookProxy(options: MediaOptions): HookProxy {
  const media = createForwarder(options, HOOKS);
  return {
    async handle(request, response) {
      const { url = '/', headers } = request;
      const signal = disconnected(response);
      const method = request.method === 'POST' ? 'POST' : 'GET';
      const [answer, bytes] = await orUnavailable(HOOKS_AWAY, async () => {
        const body = method === 'POST' ? await readHook(request) : null;
        const found = await media.forward({ method, path: url, headers, body, signal });
        return [found, Buffer.from(await found.body.arrayBuffer())] as const;
      });
      const kept = HOOK_ANSWER_HEADERS.flatMap((name) =>
        answer.headers[name] === undefined ? [] : [[name, String(answer.headers[name])]],
      );
      response.writeHead(answer.statusCode, { 'cache-control': 'no-store', ...Object.fromEntries(kept) });
      response.end(bytes);
    },
    close: () => media.close(),
  };
}

interface Forwarding {
  readonly isForwarded: (header: string) => boolean;
  /** Whether a request may be sent to another process: `always`, or only when no connection was made. */
  readonly again: 'always' | 'unsent';
  readonly pools: Parameters<typeof createPools>[1];
}

interface ForwardedRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** With its query, which is the capability, whoever the caller is. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer | null;
  readonly signal: AbortSignal;
}

function createForwarder({ media, sign }: MediaOptions, { isForwarded, again, pools: bounds }: Forwarding) {
  const pools = createPools(media, bounds);
  return {
    async forward({ signal, body, ...request }: ForwardedRequest) {
      const target = { method: request.method, path: request.path };
      const caller = anonymousCaller(newTraceId(), null);
      const asserted = await sign(caller, { ...target, body: body && bytesHash(body) });
      const headers = Object.entries(request.headers).flatMap(([name, value]) =>
        value === undefined || !isForwarded(name) ? [] : [[name, String(value)]],
      );
      const sent = {
        ...target,
        headers: { ...Object.fromEntries(headers), [CALLER_HEADER]: asserted },
        body,
        signal,
      };
      return sendToOne({
        endpoints: media,
        signal,
        again,
        // Not the signal of a lost process: it would cut what is being read.
        send: (endpoint) => pools.of(endpoint).request(sent),
      });
    },
    close: () => pools.close(),
  };
}

/** Aborted when the client leaves. */
function disconnected(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  whenClosed(response, () => left.abort());
  return left.signal;
}

async function orUnavailable<Answer>(message: string, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError('UNAVAILABLE', message, { retryAfter: 2, cause });
  }
}

async function readHook(request: IncomingMessage): Promise<Buffer> {
  const body = await readRequestBody(request, MAX_HOOK_BYTES);
  if (body !== null) return body;
  throw new AppError('PAYLOAD_TOO_LARGE', `a webhook has at most ${MAX_HOOK_BYTES} bytes`);
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
