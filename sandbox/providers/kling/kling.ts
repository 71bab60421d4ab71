import { errors, jwtVerify } from 'jose';

import type { Fault } from '../../faults/faults.ts';
import type { Answer } from '../../http/answer.ts';
import type { Wire, WireRequest, WireRoute } from '../../http/wire.ts';
import { createJobRunner, type JobRunner } from '../../jobs/job-runner.ts';
import type { Job, JobResult } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import type { VideoRequest } from '../../studio/types/media-types.ts';
import { readText } from '../shared/inputs.ts';
import { inputImages, type MediaTools, renderVideo } from '../shared/perform.ts';
import { createResults, type Results } from '../shared/results.ts';
import type { WebhookStandInOptions, StandIn } from '../shared/stand-in.ts';
import { isStateChange, startWebhooks } from '../shared/webhooks.ts';
import { refusal, success, taskJson } from './answers.ts';
import { startVideo, type KlingAction } from './start.ts';

/** The name of this wire in faults, latencies and jobs, and its mount. */
export const KLING = 'kling';

export interface KlingOptions extends WebhookStandInOptions {
  /** When set, the API key, and the secret that tokens must be signed with. */
  readonly secret: string | null;
}

/** The Kling wire: videos from texts and from images, each with its own path. It has no cancel. */
export function createKling(options: KlingOptions): StandIn {
  const { journal, secret } = options;
  const runner = createJobRunner({
    wire: KLING,
    journal,
    latency: options.latency,
    perform: (job, signal) => perform(options, job, signal),
    words: {
      moderate: 'Failure to pass the risk control system',
      fail: 'Task failed, please try again later',
    },
    logger: options.logger,
  });
  const results = createResults(journal, runner);
  // Unsigned, at each change of a task's state.
  startWebhooks({
    runner,
    logger: options.logger,
    tries: 3,
    readUrl: (job) => job.input['callbackUrl'],
    makePayload: (job) =>
      isStateChange(job, runner) ? taskJson(job, results.toUrl(job, options.baseUrl())) : null,
  });
  const parts = { runner, journal, results };
  const routes = (['text2video', 'image2video'] as const).flatMap((action) => listRoutes(parts, action));
  const wire: Wire = {
    name: KLING,
    mount: 'kling',
    refuse: (status, message) => refusal(CODES[status], message),
    refuseModel: () =>
      refusal(1203, 'The requested resource does not exist, such as the method or the model'),
    routes: [...routes.map((route) => forKnownCallers(route, secret)), results.route],
  };
  return { wire, runner };
}

const CODES = { 404: 1203, 413: 1201, 429: 1302, 500: 5000 } as const;

function forKnownCallers(route: WireRoute, secret: string | null): WireRoute {
  return {
    ...route,
    handle: async (request, fault) =>
      (await loginRefusal(request.headers['authorization'], secret)) ?? route.handle(request, fault),
  };
}

interface Parts {
  readonly runner: JobRunner;
  readonly journal: Journal;
  readonly results: Results;
}

function listRoutes(parts: Parts, action: KlingAction): WireRoute[] {
  const path = `/v1/videos/${action}`;
  return [
    {
      method: 'POST',
      path,
      operation: action,
      handle: (request, fault) => startVideo(parts, action, request, fault),
    },
    {
      method: 'GET',
      path,
      operation: 'list',
      handle: (request) => list(parts, action, request),
    },
    {
      method: 'GET',
      path: `${path}/:id`,
      operation: 'query',
      handle: (request, fault) => query(parts, action, request, fault),
    },
  ];
}

/** Finds a task by the vendor's id or the caller's own; a task of the other path is unknown here. */
async function query(
  { runner, results }: Parts,
  action: KlingAction,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const id = request.params['id'] ?? '';
  if (fault?.fault === 'lost') await runner.forget(id);
  const job = runner.list().find((other) => other.id === id || other.reference === id);
  if (job?.operation !== action) return refusal(1203, 'The requested resource does not exist');
  return success(taskJson(job, results.toUrl(job, request.baseUrl)));
}

function list({ runner, results }: Parts, action: KlingAction, request: WireRequest): Answer {
  const page = Number(request.query.get('pageNum') ?? 1);
  const size = Number(request.query.get('pageSize') ?? 30);
  if (!isWithin(page, 1_000) || !isWithin(size, 500)) return refusal(1201, 'pageNum or pageSize is invalid');
  const jobs = runner.list().filter((job) => job.operation === action);
  const shown = jobs.slice((page - 1) * size, page * size);
  return success(shown.map((job) => taskJson(job, results.toUrl(job, request.baseUrl))));
}

function isWithin(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= most;
}

async function perform(tools: MediaTools, job: Job, signal: AbortSignal): Promise<JobResult> {
  const images = await inputImages(tools.journal, job.input);
  return renderVideo(tools, job.id, videoRequest(job, images), signal);
}

function videoRequest({ input }: Job, images: readonly Buffer[]): VideoRequest {
  const firstFrame = input['hasFirst'] === true ? images[0] : undefined;
  const lastFrame = input['hasLast'] === true ? images.at(-1) : undefined;
  const aspectRatio = readText(input['aspectRatio']);
  return {
    prompt: readText(input['prompt']) ?? '',
    durationSeconds: Number(input['duration']),
    resolution: input['mode'] === 'pro' ? 1_080 : 720,
    ...(aspectRatio !== null && { aspectRatio }),
    ...(firstFrame !== undefined && { firstFrame }),
    ...(lastFrame !== undefined && { lastFrame }),
  };
}

/**
 * Checks the credential: the API key, or a token signed with it (HS256). Without a secret any key is accepted, but there
 * must be one. Null when the caller is accepted.
 */
async function loginRefusal(
  authorization: string | undefined,
  secret: string | null,
): Promise<Answer | null> {
  const token = authorization?.replace(/^Bearer /, '') ?? '';
  if (token === '') return refusal(1001, 'Authorization is empty');
  if (secret === null || token === secret) return null;
  try {
    const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), { algorithms: ['HS256'] });
    return payload.iss === undefined ? refusal(1002, 'Authorization is invalid') : null;
  } catch (error) {
    if (error instanceof errors.JWTExpired) return refusal(1004, 'Authorization has expired');
    const isEarly = error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf';
    return isEarly
      ? refusal(1003, 'Authorization is not yet valid')
      : refusal(1002, 'Authorization is invalid');
  }
}
