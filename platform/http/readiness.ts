import type { IncomingMessage, ServerResponse } from 'node:http';

import pTimeout from 'p-timeout';

import { toError } from '../errors.ts';
import type { Logger } from '../process/logger.ts';

/** What a process needs to do its work, by name; each throws while it is away. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

/** Longest time for one part, in milliseconds: the answer comes within two seconds, whatever hangs. */
const PART_MS = 1_500;

/** The names of the parts that are away now, all asked at once. Reasons are logged. */
export async function failingParts(
  checks: ReadinessChecks,
  { logger, timeoutMs = PART_MS }: { readonly logger: Logger; readonly timeoutMs?: number },
): Promise<readonly string[]> {
  const outcomes = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        await pTimeout(check(), { milliseconds: timeoutMs });
        return null;
      } catch (thrown) {
        logger.warn({ part: name, reason: toError(thrown).message }, 'a readiness check fails');
        return name;
      }
    }),
  );
  return outcomes.filter((name) => name !== null);
}

/** Answers /readyz: 200, or 503 with the parts that are away; once the process is to stop, with `stopping`. */
export function createReadyHandler(
  checks: ReadinessChecks,
  { logger, stopping }: { readonly logger: Logger; readonly stopping?: AbortSignal | undefined },
) {
  return async (_request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const failing = stopping?.aborted === true ? ['stopping'] : await failingParts(checks, { logger });
    const isReady = failing.length === 0;
    const body = { status: isReady ? 'ready' : 'not ready', checks: Object.keys(checks), failing };
    response.writeHead(isReady ? 200 : 503, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    });
    response.end(JSON.stringify(body));
  };
}
