import type { Wire, WireRequest } from '../../http/wire.ts';
import { createJobRunner } from '../../jobs/job-runner.ts';
import { hasEnded } from '../../jobs/job.ts';
import { detail, invalidField } from '../shared/fastapi.ts';
import { createResults } from '../shared/results.ts';
import type { StandIn, WebhookStandInOptions } from '../shared/stand-in.ts';
import { startWebhooks } from '../shared/webhooks.ts';
import { CODES, MODERATED, refusal } from './errors.ts';
import { fileRoutes } from './files.ts';
import { toResult } from './job-json.ts';
import { jobRoutes } from './jobs.ts';
import type { HedraParts } from './parts.ts';
import { perform } from './perform.ts';
import { assetRoutes } from './web-app-assets.ts';
import { generationRoutes } from './web-app.ts';

/** The name of this wire in faults, latencies and jobs, and its mount. */
export const HEDRA = 'hedra';

export interface HedraOptions extends WebhookStandInOptions {
  /** When set, the key that `Authorization: Bearer` must carry; `X-API-Key` at the older API. */
  readonly secret: string | null;
}

/** Hedra's two APIs over the same jobs: v3, and the older one below `/web-app`. Neither has a cancel. */
export function createHedra(options: HedraOptions): StandIn {
  const { studio, journal, secret, logger } = options;
  const runner = createJobRunner({
    wire: HEDRA,
    journal,
    latency: options.latency,
    perform: (job, signal) => perform(options, job, signal),
    words: { moderate: MODERATED, fail: 'Internal error, please try again' },
    logger,
  });
  const parts: HedraParts = { studio, runner, journal, results: createResults(journal, runner) };
  startWebhooks({
    runner,
    readUrl: ({ input }) => input['webhook'],
    makePayload: (job) => (hasEnded(job) ? toResult(parts, job, options.baseUrl()) : null),
    sign: (_body, job) => ({ 'x-hedra-webhook-id': job.id }),
    tries: 4,
    logger,
  });
  const wire: Wire = {
    name: HEDRA,
    mount: 'hedra',
    authorize: (request) => checkCredentials(request, secret),
    refuse: (status, message, retryAfter, path = '') =>
      isOlder(path) ? detail(status, message) : refusal(status, CODES[status], { message, retryAfter }),
    refuseModel: ({ path }) =>
      isOlder(path)
        ? invalidField(['model_slug'], 'Model not found')
        : refusal(404, 'NOT_FOUND', { message: 'Model not found.' }),
    routes: [
      parts.results.route,
      ...fileRoutes(parts),
      ...jobRoutes(parts),
      ...assetRoutes(parts),
      ...generationRoutes(parts),
    ],
  };
  return { wire, runner };
}

function isOlder(path: string): boolean {
  return path.startsWith('/web-app/');
}

/** The addresses of files need no key. */
const OPEN = /^\/(results|upload|uploads)\//;

function checkCredentials({ path, headers }: WireRequest, secret: string | null) {
  const older = headers['x-api-key'];
  const bearer = headers['authorization']?.replace(/^Bearer /, '');
  const credential = isOlder(path) ? older : bearer;
  const isIn = secret === null ? credential !== undefined : credential === secret;
  if (isIn || OPEN.test(path)) return { path, params: {} };
  return {
    answer: isOlder(path)
      ? detail(401, 'Invalid API key')
      : refusal(401, 'UNAUTHORIZED', { message: 'Invalid API key.' }),
  };
}
