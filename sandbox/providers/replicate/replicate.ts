import { randomBytes } from 'node:crypto';

import { Webhook } from 'standardwebhooks';

import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import type { Wire, WireRequest, WireRoute } from '../../http/wire.ts';
import { createJobRunner, type JobRunner } from '../../jobs/job-runner.ts';
import { hasEnded, type Job } from '../../jobs/job.ts';
import { createResults } from '../shared/results.ts';
import { authorizeByKey, type WebhookStandInOptions, type StandIn } from '../shared/stand-in.ts';
import { isStateChange, startWebhooks } from '../shared/webhooks.ts';
import { fileRoutes } from './files.ts';
import { listPredictions, streamPrediction } from './listing.ts';
import { MODELS, modelRoutes } from './models.ts';
import { perform } from './perform.ts';
import { predictionJson } from './prediction-json.ts';
import { problem, startOfModel, startOfVersion, type ReplicateParts } from './start.ts';

/** The name of this wire in faults, latencies and jobs, and its mount. */
export const REPLICATE = 'replicate';

export interface ReplicateOptions extends WebhookStandInOptions {
  /** When set, the token that `Authorization: Bearer` must carry. */
  readonly secret: string | null;
}

/** Replicate's API: predictions of some models, uploaded files, the secret of webhooks. */
export function createReplicate(options: ReplicateOptions): StandIn {
  const { journal, secret, logger } = options;
  const key = `whsec_${randomBytes(24).toString('base64')}`;
  const runner: JobRunner = createJobRunner({
    wire: REPLICATE,
    journal,
    latency: options.latency,
    perform: (job, signal, onPreview) => perform(options, job, signal, onPreview),
    words: {
      moderate:
        'The input or output was flagged as sensitive. Please try again with different inputs. (E005)',
      fail: 'Prediction interrupted; please retry (code: PA)',
    },
    logger,
  });
  const parts: ReplicateParts = { runner, journal, results: createResults(journal, runner) };
  sendNotices(options, parts, new Webhook(key));
  const wire: Wire = {
    name: REPLICATE,
    mount: 'replicate',
    authorize: authorizeByKey({
      scheme: 'Bearer',
      secret,
      // The vendor's addresses of streams and results carry their own permission.
      isOpen: (path) => path.startsWith('/results/') || /^\/v1\/predictions\/\w+\/stream$/.test(path),
      refusal: () => problem(401, 'Unauthenticated', 'You did not pass a valid authentication token'),
    }),
    refuse: (status, message) => problem(status, TITLES[status], message),
    refuseModel: notFound,
    routes: [
      parts.results.route,
      ...startRoutes(parts),
      ...predictionRoutes(parts),
      ...fileRoutes(parts),
      ...modelRoutes(),
      {
        method: 'GET',
        path: '/v1/webhooks/default/secret',
        operation: 'secret',
        handle: () => json({ key }),
      },
    ],
  };
  return { wire, runner };
}

const TITLES = {
  404: 'Not Found',
  413: 'Payload Too Large',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
} as const;

function startRoutes(parts: ReplicateParts): WireRoute[] {
  const named = MODELS.filter(({ isOfCommunity }) => isOfCommunity !== true);
  const ofModels = named.map((model): WireRoute => ({
    method: 'POST',
    path: `/v1/models/${model.name}/predictions`,
    operation: model.operation,
    handle: (request, fault) => startOfModel(parts, model, request, fault),
  }));
  const ofVersions: WireRoute = {
    method: 'POST',
    path: '/v1/predictions',
    operation: 'version',
    handle: (request, fault) => startOfVersion(parts, request, fault),
  };
  return [...ofModels, ofVersions];
}

function predictionRoutes(parts: ReplicateParts): WireRoute[] {
  const { runner } = parts;
  return [
    {
      method: 'GET',
      path: '/v1/predictions',
      operation: 'list',
      handle: (request) => listPredictions(parts, request),
    },
    {
      method: 'GET',
      path: '/v1/predictions/:id/stream',
      operation: 'stream',
      handle: async (request, fault) => {
        const job = await known(runner, request, fault);
        return job === null ? notFound() : streamPrediction(parts, job, request);
      },
    },
    {
      method: 'GET',
      path: '/v1/predictions/:id',
      operation: 'get',
      handle: async (request, fault) => {
        const job = await known(runner, request, fault);
        return job === null ? notFound() : json(predictionJson(parts, job, request.baseUrl));
      },
    },
    {
      method: 'POST',
      path: '/v1/predictions/:id/cancel',
      operation: 'cancel',
      handle: async (request, fault) => {
        const job = await known(runner, request, fault);
        if (job === null) return notFound();
        await runner.cancel(job.id);
        return json(predictionJson(parts, runner.get(job.id) ?? job, request.baseUrl));
      },
    },
  ];
}

function notFound(): Answer {
  return problem(404, 'Not Found', 'The requested resource could not be found.');
}

async function known(runner: JobRunner, { params }: WireRequest, fault: Fault | null): Promise<Job | null> {
  const { id = '' } = params;
  if (fault?.fault === 'lost') await runner.forget(id);
  const job = runner.get(id);
  return job?.operation === 'file' ? null : job;
}

/** Starts the requested webhooks (`start` and `completed`), signed by Standard Webhooks. */
function sendNotices({ baseUrl, logger }: ReplicateOptions, parts: ReplicateParts, signer: Webhook): void {
  startWebhooks({
    runner: parts.runner,
    logger,
    tries: 3,
    readUrl: (job) => job.input['webhook'],
    makePayload: (job) => (isWanted(job, parts.runner) ? predictionJson(parts, job, baseUrl()) : null),
    sign(body, job) {
      const id = `msg_${job.id}${job.state}`;
      const now = new Date();
      const timestamp = String(Math.floor(now.getTime() / 1_000));
      return {
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signer.sign(id, now, body),
      };
    },
  });
}

function isWanted(job: Job, runner: JobRunner): boolean {
  const { events } = job.input;
  const name = hasEnded(job) ? 'completed' : 'start';
  return isStateChange(job, runner) && (!Array.isArray(events) || events.includes(name));
}
