import { type Request, type Response, Router } from 'express';
import pTimeout from 'p-timeout';

import { lacksNow, readinessAnswer, type ReadinessChecks, STOPPING } from '../../platform/http/readiness.ts';
import { createKeyCheck } from '../../platform/metrics/serve-metrics.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { CallerFinder } from '../authentication/caller.ts';
import { createRateLimiter, rateHeaders, type RateLimiter } from '../limits/rate-limit.ts';

/** Options of the health endpoints. */
export interface HealthOptions {
  /** Readiness checks by name. Names are public, reasons are logged. */
  readonly checks: ReadinessChecks;
  /** What /readyz?verbose reports of providers besides (default: nothing). It does not decide readiness. */
  readonly providers?: (() => Promise<unknown>) | undefined;
  /** METRICS_KEY, which opens that as an administrator's credential does; null: there is none. */
  readonly metricsKey?: string | null;
  readonly callers: CallerFinder;
  /** Absent where rates are not limited: neither are requests to /readyz then. */
  readonly rateLimiter?: RateLimiter | undefined;
  /** Requests to /readyz a minute and address (default 600: many times what load balancers ask for). */
  readonly readyPerMinute?: number | undefined;
  /** Timeout of a check in milliseconds (default 1,800: the answer comes within two seconds, and parts that take 1.5 to know have told). */
  readonly timeoutMs?: number;
  readonly logger: Logger;
}

/** The health endpoints. */
export type Health = ReturnType<typeof createHealth>;

/** Makes the health endpoints. A request to /readyz runs all checks at once; those that come meanwhile share the outcome. */
export function createHealth(options: HealthOptions) {
  const { checks, timeoutMs = 1_800, readyPerMinute = 600, logger, callers } = options;
  // Counts of their own, in memory: callers behind the address of a load balancer use up none of its requests, and no
  // store of counts has to answer.
  const rates = options.rateLimiter && createRateLimiter({ status: readyPerMinute });
  const router = Router();
  const hasKey = createKeyCheck(options.metricsKey ?? null);
  let isDraining = false;
  let running: ReturnType<typeof lacksNow> | null = null;

  function lacks(): ReturnType<typeof lacksNow> {
    running ??= lacksNow(checks, { logger, timeoutMs }).finally(() => (running = null));
    return running;
  }

  async function isAdministrator(request: Request): Promise<boolean> {
    if (hasKey(request)) return true;
    const caller = await callers.find(request, { strict: true }).catch(() => null);
    return caller?.scopes.includes('admin') === true;
  }

  /** Null where they can not be read: that is no reason to be not ready. */
  async function readProviders(): Promise<unknown> {
    if (options.providers === undefined) return null;
    return pTimeout(options.providers(), { milliseconds: timeoutMs }).catch(() => null);
  }

  async function answerReady(request: Request, response: Response): Promise<void> {
    // By the address, whatever credential comes along: it would have to be looked up first.
    const nobody = await callers.find(request, { authorization: '' });
    const rate = await rates?.take(nobody, 'status');
    if (rate?.allowed === false) {
      response.status(429).set(rateHeaders(rate));
      return void response.json({ status: 'too many requests' });
    }
    const { statusCode, body } = readinessAnswer(checks, isDraining ? STOPPING : await lacks());
    response.status(statusCode).set('Cache-Control', 'no-store');
    const isVerbose = request.query['verbose'] !== undefined && (await isAdministrator(request));
    const more = isVerbose ? { providers: await readProviders() } : {};
    response.json({ ...body, ...more });
  }

  router.get('/healthz', (_request, response) => {
    response.set('Cache-Control', 'no-store').json({ status: 'ok' });
  });
  router.get('/readyz', (request, response, next) => {
    answerReady(request, response).catch(next);
  });
  return {
    /** `/healthz` (200 while the process serves) and `/readyz` (503 naming the parts that this process lacks, 200 naming those that all lack; `?verbose` with the providers, for administrators). */
    router,
    /** Reports not ready from now on: traffic should go elsewhere while running requests end. */
    drain: (): void => {
      isDraining = true;
    },
  };
}
