import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';

import pTimeout from 'p-timeout';

import { toError } from '../errors.ts';
import type { Logger } from '../process/logger.ts';
import { listenOn, stopAccepting } from './server.ts';

/**
 * Whether a part of a process works: throws while the process lacks it and should get no requests. What it returns are
 * parts that every process lacks alike: they are named, and the process still gets requests.
 */
export type ReadinessCheck = () => Promise<readonly string[] | void>;

/** The checks of a process, by the name of the part. */
export type ReadinessChecks = Readonly<Record<string, ReadinessCheck>>;

/** What a process lacks now. */
interface Lacks {
  /** What it lacks itself: with any of these it is not ready. */
  readonly failing: readonly string[];
  /** What all processes lack. */
  readonly degraded: readonly string[];
}

/** Longest time for one part, in milliseconds: the answer comes within two seconds, whatever hangs. */
const PART_MS = 1_500;

/**
 * The check of a part that all processes share and can do much work without: while it is away none of them is better
 * than another, so that none is taken out of its load balancer for it.
 */
export function sharedPart(
  name: string,
  check: () => Promise<void>,
  { logger }: { readonly logger: Logger },
): ReadinessCheck {
  return async () => {
    try {
      await pTimeout(check(), { milliseconds: PART_MS });
      return [];
    } catch (thrown) {
      logger.warn({ part: name, reason: toError(thrown).message }, 'a part that all share is away');
      return [name];
    }
  };
}

/** What is away now, all parts asked at once. Reasons are logged. */
export async function lacksNow(
  checks: ReadinessChecks,
  { logger, timeoutMs = PART_MS + 100 }: { readonly logger: Logger; readonly timeoutMs?: number },
): Promise<Lacks> {
  const failing: string[] = [];
  const degraded = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        return (await pTimeout(check(), { milliseconds: timeoutMs })) ?? [];
      } catch (thrown) {
        logger.warn({ part: name, reason: toError(thrown).message }, 'a readiness check fails');
        failing.push(name);
        return [];
      }
    }),
  );
  return { failing: failing.toSorted(), degraded: degraded.flat() };
}

/** What /readyz says: 503 with the parts that this process lacks, else 200, naming those that all lack. */
export function readinessAnswer(checks: ReadinessChecks, { failing, degraded }: Lacks) {
  const status = failing.length > 0 ? 'not ready' : degraded.length > 0 ? 'degraded' : 'ready';
  const body = { status, checks: Object.keys(checks), failing, ...(degraded.length > 0 && { degraded }) };
  return { statusCode: failing.length === 0 ? 200 : 503, body };
}

/** Answers /readyz; once the process is to stop, 503 with `stopping`. */
export function createReadyHandler(
  checks: ReadinessChecks,
  { logger, stopping }: { readonly logger: Logger; readonly stopping?: AbortSignal | undefined },
) {
  return async (_request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isStopping = stopping?.aborted === true;
    const lacks = isStopping ? STOPPING : await lacksNow(checks, { logger });
    const { statusCode, body } = readinessAnswer(checks, lacks);
    response.writeHead(statusCode, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    });
    response.end(JSON.stringify(body));
  };
}

/** What a process lacks that is to stop. */
export const STOPPING: Lacks = { failing: ['stopping'], degraded: [] };

/** Serves /healthz and /readyz of a process that answers nobody else. Rejects when the port is taken. */
export async function startHealthServer(options: {
  readonly checks: ReadinessChecks;
  readonly logger: Logger;
  /** Aborted when the process is to stop: from then on it is not ready. */
  readonly stopping: AbortSignal;
  readonly host: string;
  readonly port: number;
}): Promise<{ readonly url: string; close(): Promise<void> }> {
  const ready = createReadyHandler(options.checks, options);
  const server = createServer((request, response) => {
    const [path] = (request.url ?? '').split('?', 1);
    if (path === '/readyz') {
      void ready(request, response);
    } else {
      response.writeHead(path === '/healthz' ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(path === '/healthz' ? { status: 'ok' } : { error: 'not found' }));
    }
  });
  const { url } = await listenOn(server, options.host, options.port);
  return { url, close: () => stopAccepting(server) };
}
