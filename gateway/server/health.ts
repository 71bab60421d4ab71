import { type Request, type Response, Router } from 'express';
import pTimeout from 'p-timeout';

import { failingParts } from '../../platform/http/readiness.ts';
import type { Logger } from '../../platform/process/logger.ts';

/** Options of the health endpoints. */
export interface HealthOptions {
  /** Readiness checks by name; a check that throws fails. Names are public, reasons are logged. */
  readonly checks: Readonly<Record<string, () => Promise<void>>>;
  /** What /readyz?verbose tells of providers besides (default: nothing). It does not decide readiness. */
  readonly providers?: (() => Promise<unknown>) | undefined;
  /** Timeout of a check in milliseconds (default 1,800: the answer comes within two seconds, and parts that take 1.5 to know have told). */
  readonly timeoutMs?: number;
  readonly logger: Logger;
}

/** The health endpoints. */
export interface Health {
  /** `/healthz` (200 while the process serves) and `/readyz` (503 naming the parts that fail; `?verbose` with the providers). */
  readonly router: Router;
  /** Reports not ready from now on: traffic should go elsewhere while running requests end. */
  drain(): void;
}

/** Makes the health endpoints. Each request to /readyz runs all checks at once. */
export function createHealth(options: HealthOptions): Health {
  const { checks, timeoutMs = 1_800, logger } = options;
  const router = Router();
  let isDraining = false;

  /** Null where they can not be read: that is no reason to be not ready. */
  async function readProviders(): Promise<unknown> {
    if (options.providers === undefined) return null;
    return pTimeout(options.providers(), { milliseconds: timeoutMs }).catch(() => null);
  }

  async function answerReady(request: Request, response: Response): Promise<void> {
    const failing = isDraining ? ['stopping'] : await failingParts(checks, { logger, timeoutMs });
    const status = failing.length === 0 ? 'ready' : 'not ready';
    response.status(failing.length === 0 ? 200 : 503).set('Cache-Control', 'no-store');
    const isVerbose = request.query['verbose'] !== undefined;
    const more = isVerbose ? { providers: await readProviders() } : {};
    response.json({ status, checks: Object.keys(checks), failing, ...more });
  }

  router.get('/healthz', (_request, response) => {
    response.set('Cache-Control', 'no-store').json({ status: 'ok' });
  });
  router.get('/readyz', (request, response) => {
    void answerReady(request, response);
  });
  return {
    router,
    drain: () => {
      isDraining = true;
    },
  };
}
