import { Router } from 'express';
import pTimeout from 'p-timeout';

import { toError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/process/logger.ts';

/** Options of the health endpoints. */
export interface HealthOptions {
  /** Readiness checks by name; a check that throws fails. Names are public, reasons are logged. */
  readonly checks: Readonly<Record<string, () => Promise<void>>>;
  /** Timeout of a check in milliseconds (default 3,000). */
  readonly timeoutMs?: number;
  readonly logger: Logger;
}

/** The health endpoints. */
export interface Health {
  /** `/healthz` (200 while the process serves) and `/readyz` (503 naming the parts that fail). */
  readonly router: Router;
  /** Reports not ready from now on: traffic should go elsewhere while running requests end. */
  drain(): void;
}

/** Makes the health endpoints. Each request to /readyz runs all checks at once. */
export function createHealth({ checks, timeoutMs = 3_000, logger }: HealthOptions): Health {
  const router = Router();
  let isDraining = false;

  /** The names of the failing checks. */
  async function findFailing(): Promise<string[]> {
    const outcomes = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        try {
          await pTimeout(check(), { milliseconds: timeoutMs });
          return undefined;
        } catch (error) {
          logger.warn({ part: name, error: toError(error) }, 'a readiness check fails');
          return name;
        }
      }),
    );
    return outcomes.filter((name) => name !== undefined);
  }

  router.get('/healthz', (_request, response) => {
    response.set('Cache-Control', 'no-store').json({ status: 'ok' });
  });
  router.get('/readyz', async (_request, response) => {
    const failing = isDraining ? ['stopping'] : await findFailing();
    const status = failing.length === 0 ? 'ready' : 'not ready';
    response.status(failing.length === 0 ? 200 : 503).set('Cache-Control', 'no-store');
    response.json({ status, checks: Object.keys(checks), failing });
  });
  return {
    router,
    drain: () => {
      isDraining = true;
    },
  };
}
