import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import { jsonObject, type Wire, type WireRequest, type WireRoute } from '../../http/wire.ts';
import { createJobRunner, type JobRunner } from '../../jobs/job-runner.ts';
import type { Job, JobState } from '../../jobs/job.ts';
import { contentItems, renderedContent, storeContent, joinTexts } from '../shared/content-items.ts';
import { inputImages, renderVideo } from '../shared/perform.ts';
import { createResults, type Results } from '../shared/results.ts';
import { findBannedWord } from '../shared/rules/text.ts';
import { toJobFault, type StandIn, type StandInOptions } from '../shared/stand-in.ts';

/** The name of this wire in faults, latencies and jobs, and its mount. */
export const ARK = 'ark';

interface ArkOptions extends StandInOptions {
  /** When set, the key that `Authorization: Bearer` must carry. */
  readonly secret: string | null;
}

const MODERATED = 'OutputVideoSensitiveContentDetected';

/** Volcengine's ModelArk: tasks that make videos of a `content`. Its SDK has no field for a caller's reference. */
export function createArk(options: ArkOptions): StandIn {
  const { journal, secret } = options;
  const runner = createJobRunner({
    wire: ARK,
    journal,
    latency: options.latency,
    async perform(job, signal) {
      const images = await inputImages(journal, job.input);
      return renderVideo(options, job.id, renderedContent(job, images), signal);
    },
    words: { moderate: MODERATED, fail: 'InternalServiceError' },
    logger: options.logger,
  });
  const results = createResults(journal, runner);
  const parts = { runner, journal, results };
  const wire: Wire = {
    name: ARK,
    mount: 'ark',
    authorize({ path, headers }) {
      const key = headers['authorization'];
      const isIn =
        path.startsWith('/results/') || (secret === null ? key !== undefined : key === `Bearer ${secret}`);
      return isIn
        ? { path, params: {} }
        : {
            answer: problem(
              401,
              'AuthenticationError',
              'the API key or AK/SK in the request is missing or invalid',
            ),
          };
    },
    refuse: (status, message) => problem(status, CODES[status], message),
    refuseModel: () =>
      problem(
        404,
        'InvalidEndpointOrModel.NotFound',
        'The model or endpoint does not exist or you do not have access to it.',
      ),
    routes: listRoutes(parts),
  };
  return { wire, runner };
}

function listRoutes(parts: Parts): WireRoute[] {
  const { runner, results } = parts;
  return [
    {
      method: 'POST',
      path: TASKS,
      operation: 'create',
      handle: (request, fault) => create(parts, request, fault),
    },
    {
      method: 'GET',
      path: `${TASKS}/:id`,
      operation: 'get',
      handle: (request, fault) => get(parts, request, fault),
    },
    {
      method: 'DELETE',
      path: `${TASKS}/:id`,
      operation: 'delete',
      handle: (request) => remove(runner, request),
    },
    results.route,
  ];
}

const TASKS = '/api/v3/contents/generations/tasks';
const CODES = {
  404: 'NotFound',
  413: 'InvalidParameter',
  429: 'RateLimitExceeded.EndpointRPMExceeded',
  500: 'InternalServiceError',
} as const;

interface Parts {
  readonly runner: JobRunner;
  readonly journal: StandInOptions['journal'];
  readonly results: Results;
}

const request = z.object({
  model: z.string().min(1),
  content: contentItems,
  resolution: z.enum(['480p', '720p', '1080p', '4k']).default('720p'),
  ratio: z.enum(['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', 'adaptive']).default('adaptive'),
  duration: z.int().min(2).max(30).default(5),
  seed: z.int().nullish(),
  generate_audio: z.boolean().nullish(),
});

async function create({ runner, journal }: Parts, sent: WireRequest, fault: Fault | null): Promise<Answer> {
  const parsed = request.safeParse(jsonObject(sent));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const name = issue?.path.join('.') ?? '';
    return problem(
      400,
      'InvalidParameter',
      `The parameter \`${name}\` is not valid: ${issue?.message ?? ''}`,
      name,
    );
  }
  const { content, ...settings } = parsed.data;
  if (fault?.fault === 'moderation' || findBannedWord(joinTexts(content)) !== null) {
    return problem(
      400,
      'InputTextSensitiveContentDetected',
      'The input text may contain sensitive information.',
    );
  }
  const id = `cgt-${randomUUID()}`;
  const stored = await storeContent(journal, id, content);
  const input = {
    ...stored,
    ...settings,
    seed: settings.seed ?? null,
    generate_audio: settings.generate_audio ?? null,
  };
  const job =
    fault?.fault === 'queue-full'
      ? null
      : await runner.submit({ id, operation: 'create', reference: null, input, fault: toJobFault(fault) });
  return job === null ? problem(429, 'QuotaExceeded', 'Too many tasks are queued.') : json({ id });
}

async function get(
  { runner, results }: Parts,
  { params, baseUrl }: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const id = params['id'] ?? '';
  if (fault?.fault === 'lost') await runner.forget(id);
  const job = runner.get(id);
  if (job === null) return problem(404, 'ResourceNotFound', 'The specified resource task is not found.');
  return json(taskJson(job, results.toUrl(job, baseUrl)));
}

/** Of a task that waits it is the cancellation; one that runs can't be deleted. */
async function remove(runner: JobRunner, { params }: WireRequest): Promise<Answer> {
  const id = params['id'] ?? '';
  const job = runner.get(id);
  if (job === null) return problem(404, 'ResourceNotFound', 'The specified resource task is not found.');
  if (job.state === 'running')
    return problem(409, 'InvalidAction.RunningTaskDeletion', 'The task is running and cannot be deleted.');
  if (job.state === 'queued') await runner.cancel(id);
  else await runner.forget(id);
  return json({});
}

const STATUS: Readonly<Record<JobState, string>> = {
  queued: 'queued',
  running: 'running',
  finished: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
};

function taskJson(job: Job, url: string | null): object {
  const { model, seed = null, resolution, ratio, duration, generate_audio: generateAudio = true } = job.input;
  const seconds = (time: number | null) => Math.floor((time ?? job.submittedAt) / 1_000);
  return {
    id: job.id,
    model,
    status: STATUS[job.state],
    created_at: seconds(job.submittedAt),
    updated_at: seconds(job.endedAt),
    seed,
    resolution,
    ratio,
    duration,
    generate_audio: generateAudio,
    framespersecond: 24,
    ...(url !== null && {
      content: { video_url: url },
      usage: { completion_tokens: 108_000, total_tokens: 108_000 },
    }),
    ...(job.state === 'failed' && { error: { code: job.failure ?? '', message: 'The task failed.' } }),
  };
}

function problem(status: number, code: string, message: string, param = ''): Answer {
  return json(
    { error: { code, message, param, type: status >= 500 ? 'InternalServerError' : 'BadRequest' } },
    status,
  );
}
