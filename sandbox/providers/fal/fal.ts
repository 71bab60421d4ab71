import { createHash, generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import type { Wire, WireRequest, WireRoute } from '../../http/wire.ts';
import { createJobRunner, type JobRunner } from '../../jobs/job-runner.ts';
import { hasEnded, type Job } from '../../jobs/job.ts';
import type { LatencyProfile } from '../../jobs/latency-profile.ts';
import { createResults } from '../shared/results.ts';
import { authorizeByKey, type WebhookStandInOptions, type StandIn } from '../shared/stand-in.ts';
import { startWebhooks } from '../shared/webhooks.ts';
import { FAILED, MODERATED, platformError } from './answers.ts';
import { ENDPOINTS } from './endpoints.ts';
import { perform } from './perform.ts';
import { createFalStorage } from './storage.ts';
import { submit } from './submit.ts';
import { createFalViews, isCompleted, type FalViews } from './views.ts';

/** The name of fal's queue in faults, latencies and jobs, and its mount. */
export const FAL = 'fal';

export interface FalOptions extends WebhookStandInOptions {
  readonly storageLatency: () => LatencyProfile;
  /** When set, the key that `Authorization: Key` must carry. */
  readonly secret: string | null;
}

/** fal's two services: the queue of its models, and its storage, which also publishes the key of its webhooks. */
export function createFal(options: FalOptions): readonly [queue: StandIn, storage: StandIn] {
  const { journal, secret, logger } = options;
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const runner: JobRunner = createJobRunner({
    wire: FAL,
    journal,
    latency: options.latency,
    perform: (job, signal, onPreview) => perform(options, job, signal, onPreview),
    words: { moderate: MODERATED, fail: FAILED },
    logger,
  });
  const results = createResults(journal, runner);
  const views = createFalViews(runner, results);
  sendNotices(options, { runner, views, privateKey });
  const wire: Wire = {
    name: FAL,
    mount: 'fal',
    headers: () => ({ 'x-fal-request-id': randomUUID() }),
    authorize: authorizeByKey({
      scheme: 'Key',
      secret,
      // The list is public.
      isOpen: (path) => path.startsWith('/results/') || path === '/v1/models',
      refusal: () => platformError(401, 'No user found for Key ID and Secret'),
    }),
    refuse: (status, message) => platformError(status, message),
    refuseModel: ({ path }) =>
      platformError(404, `Application '${path.replace(/^\/(run\/)?/, '')}' not found`),
    routes: [
      results.route,
      ...submitRoutes({ runner, journal, views }),
      ...directRoutes({ runner, journal, views }),
      ...requestRoutes(runner, views),
      ...listRoutes(),
    ],
  };
  const storage = createFalStorage({
    journal,
    secret,
    logger,
    latency: options.storageLatency,
    publicKey: { ...publicKey.export({ format: 'jwk' }), kid: 'sandbox', use: 'sig', alg: 'EdDSA' },
  });
  return [{ wire, runner }, storage];
}

function submitRoutes(parts: Parameters<typeof submit>[0]): WireRoute[] {
  return ENDPOINTS.map((endpoint) => ({
    method: 'POST',
    path: endpoint.path,
    operation: endpoint.operation,
    handle: (request, fault) => submit(parts, endpoint, request, fault),
  }));
}

/** fal.run: the same endpoints below /run, answered when the work has ended. */
function directRoutes(parts: Parameters<typeof submit>[0]): WireRoute[] {
  return ENDPOINTS.map((endpoint) => ({
    method: 'POST',
    path: `/run${endpoint.path}`,
    operation: 'run',
    handle: async (request, fault) => {
      const started = await submit(parts, endpoint, request, fault);
      if (started.status !== 200 || typeof started.body !== 'string') return started;
      const { request_id: id } = JSON.parse(started.body) as { readonly request_id: string };
      return parts.views.result(await parts.runner.ended(id, request.signal), request.baseUrl);
    },
  }));
}

function requestRoutes(runner: JobRunner, views: FalViews): WireRoute[] {
  const request = '/:owner/:alias/requests/:id';
  const get = (
    path: string,
    operation: string,
    show: (job: Job, requested: WireRequest) => Answer,
  ): WireRoute => ({
    method: 'GET',
    path,
    operation,
    handle: async (requested, fault) => {
      const job = await known(runner, requested, fault);
      return job === null ? notFound() : show(job, requested);
    },
  });
  return [
    get(`${request}/status`, 'status', (job, requested) =>
      json(views.status(job, requested.baseUrl, hasLogs(requested)), isCompleted(job) ? 200 : 202),
    ),
    get(`${request}/status/stream`, 'stream', (job, requested) => ({
      status: 200,
      headers: { 'content-type': 'text/event-stream; charset=utf-8' },
      body: follow(runner, views, job.id, requested),
    })),
    get(request, 'result', (job, requested) => views.result(job, requested.baseUrl)),
    {
      method: 'PUT',
      path: `${request}/cancel`,
      operation: 'cancel',
      handle: async (requested, fault) => {
        const job = await known(runner, requested, fault);
        if (job === null) return json({ status: 'NOT_FOUND' }, 404);
        const isStopped = await runner.cancel(job.id);
        return isStopped
          ? json({ status: 'CANCELLATION_REQUESTED' }, 202)
          : json({ status: 'ALREADY_COMPLETED' }, 400);
      },
    },
  ];
}

/** The list of models, and their prices: at the vendor a service of its own. */
function listRoutes(): WireRoute[] {
  const asked = ({ query }: WireRequest) => {
    const ids = query.getAll('endpoint_id');
    return ENDPOINTS.map(({ path, operation }) => ({ endpoint_id: path.slice(1), operation })).filter(
      ({ endpoint_id }) =>
        (ids.length === 0 || ids.includes(endpoint_id)) &&
        endpoint_id.includes((query.get('q') ?? '').toLowerCase().replaceAll(' ', '-')),
    );
  };
  const list = (path: string, operation: string, show: (request: WireRequest) => object): WireRoute => ({
    method: 'GET',
    path,
    operation,
    handle: (request) => json(show(request)),
  });
  return [
    list('/v1/models', 'models', (request) => ({
      models: asked(request).map(({ endpoint_id, operation }) => ({
        endpoint_id,
        metadata: {
          display_name: endpoint_id.split('/').slice(1).join(' '),
          description: `drawn by local-studio: ${operation}s`,
          status: 'active',
        },
      })),
      next_cursor: null,
      has_more: false,
    })),
    list('/v1/models/pricing', 'prices', (request) => ({
      prices: asked(request)
        .filter(({ operation }) => operation === 'image')
        .map(({ endpoint_id }) => ({ endpoint_id, unit_price: 0.03, unit: 'images', currency: 'USD' })),
    })),
  ];
}

function hasLogs({ query }: WireRequest): boolean {
  return query.get('logs') === '1';
}

function notFound(): Answer {
  return platformError(404, 'Request not found');
}

async function known(runner: JobRunner, { params }: WireRequest, fault: Fault | null): Promise<Job | null> {
  const { id = '' } = params;
  if (fault?.fault === 'lost') await runner.forget(id);
  return runner.get(id);
}

const STREAM_PAUSE_MS = 100;

/** Streams the status until the request is completed. */
async function* follow(
  runner: JobRunner,
  views: FalViews,
  id: string,
  requested: WireRequest,
): AsyncGenerator<string> {
  let last = '';
  while (!requested.signal.aborted) {
    const job = runner.get(id);
    if (job === null) return;
    const data = JSON.stringify(views.status(job, requested.baseUrl, hasLogs(requested)));
    if (data !== last) yield `data: ${data}\n\n`;
    last = data;
    if (isCompleted(job)) return;
    await pause(STREAM_PAUSE_MS, undefined, { signal: requested.signal, ref: false }).catch(() => undefined);
  }
}

/** Starts the signed webhooks at the end of requests. */
function sendNotices(
  { baseUrl, logger }: FalOptions,
  { runner, views, privateKey }: { runner: JobRunner; views: FalViews; privateKey: KeyObject },
): void {
  startWebhooks({
    runner,
    logger,
    tries: 3,
    readUrl: (job) => job.input['webhook'],
    makePayload(job) {
      if (!hasEnded(job)) return null;
      const { status, body } = views.result(job, baseUrl());
      const isGood = status === 200;
      return {
        request_id: job.id,
        gateway_request_id: job.id,
        status: isGood ? 'OK' : 'ERROR',
        payload: typeof body === 'string' ? (JSON.parse(body) as unknown) : null,
        ...(isGood ? {} : { error: `Invalid status code: ${status}` }),
      };
    },
    sign: (body, job) => signature(body, job.id, privateKey),
  });
}

const USER = 'sandbox-user';

function signature(body: string, id: string, key: KeyObject): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const hash = createHash('sha256').update(body).digest('hex');
  const message = Buffer.from([id, USER, timestamp, hash].join('\n'));
  return {
    'x-fal-webhook-request-id': id,
    'x-fal-webhook-user-id': USER,
    'x-fal-webhook-timestamp': timestamp,
    'x-fal-webhook-signature': sign(null, message, key).toString('hex'),
  };
}
