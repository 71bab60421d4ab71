import type { JsonObject } from '../../../platform/json.ts';
import type { Fault } from '../../faults/faults.ts';
import { empty, json, text, type Answer } from '../../http/answer.ts';
import { jsonObject, type Wire, type WireRequest, type WireRoute } from '../../http/wire.ts';
import { createJobRunner, type JobRunner } from '../../jobs/job-runner.ts';
import type { Job } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import type { VideoRequest } from '../../studio/types/media-types.ts';
import type { ImageRequest } from '../../studio/types/studio.ts';
import { readText } from '../shared/inputs.ts';
import { describeImage, inputImages, renderImage, renderVideo, type Perform } from '../shared/perform.ts';
import type { WebhookStandInOptions, StandIn } from '../shared/stand-in.ts';
import { startWebhooks } from '../shared/webhooks.ts';
import { parsePrompt } from './prompt.ts';
import { createImages, type StoredImages } from './stored-images.ts';
import { createSubmissions } from './submit.ts';
import { CODE, submitResult, taskJson } from './task-json.ts';

/** The name of this wire in faults, latencies and jobs, and its mount. */
export const MIDJOURNEY = 'midjourney';

export interface MidjourneyOptions extends WebhookStandInOptions {
  /** The required `mj-api-secret` (or bearer token). */
  readonly secret: string | null;
}

/**
 * The midjourney-proxy wire (docs/sandbox.md names what it follows). An imagine job ends with ONE image of
 * the asked aspect ratio at imageUrl, where the real service shows a grid of four of that same ratio.
 */
export function createMidjourney(options: MidjourneyOptions): StandIn {
  const { journal } = options;
  const runner = createJobRunner({
    wire: MIDJOURNEY,
    journal,
    latency: options.latency,
    perform: (job, signal, onPreview) => perform(options, job, signal, onPreview),
    words: {
      moderate: '[Banned prompt detected] The request goes against the community standards',
      fail: '[Failed to process your command] Please try again',
    },
    logger: options.logger,
  });
  const images = createImages(journal, runner);
  const view = (job: Job, baseUrl: string) =>
    taskJson({ job, progress: runner.readProgress(job), imageUrl: images.toUrl(job, baseUrl) });
  // Unsigned, never repeated, at each change.
  startWebhooks({
    runner,
    readUrl: (job) => job.input['notifyHook'],
    makePayload: (job) => view(job, options.baseUrl()),
    logger: options.logger,
  });
  const wire: Wire = {
    name: MIDJOURNEY,
    mount: 'midjourney',
    authorize: (request) => checkCredentials(request, options.secret),
    refuse: (status, message) =>
      json({ code: status === 404 ? CODE.notFound : CODE.failure, description: message }, status),
    routes: listRoutes({ runner, journal, images, view }),
  };
  return { wire, runner };
}

interface Parts {
  readonly runner: JobRunner;
  readonly journal: Journal;
  readonly images: StoredImages;
  /** The Task JSON of a job. */
  readonly view: (job: Job, baseUrl: string) => object;
}

function listRoutes({ runner, journal, images, view }: Parts): WireRoute[] {
  const submissions = createSubmissions({ runner, journal });
  return [
    { method: 'POST', path: '/mj/submit/imagine', operation: 'imagine', handle: submissions.imagine },
    { method: 'POST', path: '/mj/submit/describe', operation: 'describe', handle: submissions.describe },
    { method: 'POST', path: '/mj/submit/video', operation: 'video', handle: submissions.video },
    { method: 'POST', path: '/mj/submit/change', operation: 'change', handle: submissions.change },
    {
      method: 'GET',
      path: '/mj/task/list',
      operation: 'list',
      handle: ({ baseUrl }) => json(runner.list().map((job) => view(job, baseUrl))),
    },
    {
      method: 'POST',
      path: '/mj/task/list-by-condition',
      operation: 'list-by-condition',
      handle: (request) => json(named(runner, request).map((job) => view(job, request.baseUrl))),
    },
    {
      method: 'GET',
      path: '/mj/task/:id/fetch',
      operation: 'fetch',
      handle: async (request, fault) => {
        const job = await known(runner, request.params['id'] ?? '', fault);
        return 'status' in job ? job : json(view(job, request.baseUrl));
      },
    },
    {
      method: 'POST',
      path: '/mj/task/:id/cancel',
      operation: 'cancel',
      handle: (request, fault) => cancel(runner, request, fault),
    },
    {
      method: 'GET',
      path: '/attachments/:id/:edition/:name',
      operation: 'download',
      handle: images.download,
    },
  ];
}

const SPEED = /^\/(?:mj-)?(fast|turbo|relax)(\/mj\/.*)$/;

/** Checks the secret, and removes the speed prefix of some deployments from the path. */
function checkCredentials(
  { path, headers }: WireRequest,
  secret: string | null,
): { path: string; params: Record<string, string> } | { answer: Answer } {
  const credential = headers['mj-api-secret'] ?? headers['authorization']?.replace(/^Bearer /i, '');
  if (secret !== null && credential !== secret && !path.startsWith('/attachments/'))
    return { answer: empty(401) };
  const [, speed, rest] = SPEED.exec(path) ?? [];
  return speed === undefined || rest === undefined ? { path, params: {} } : { path: rest, params: { speed } };
}

const perform: Perform = async (tools, job, signal, onPreview) => {
  if (job.operation === 'describe') return describeImage(tools, job.input, signal);
  const images = await inputImages(tools.journal, job.input);
  if (job.operation === 'video') {
    return renderVideo(tools, job.id, videoRequest(job.input, images), signal);
  }
  const request = imageRequest(job.input, images);
  return renderImage(tools, { id: job.id, index: 0, onPreview }, request, signal);
};

/** Renders five silent seconds, 480 or 720 lines, with the aspect ratio of the first frame. */
function videoRequest(input: JsonObject, images: readonly Buffer[]): VideoRequest {
  const { text: prompt, seed, parameters } = parsePrompt(readText(input['prompt']) ?? '');
  const [firstFrame, lastFrame] = input['hasFirstFrame'] === true ? images : [undefined, ...images];
  const isShaped = firstFrame === undefined && 'ar' in parameters;
  return {
    prompt,
    durationSeconds: 5,
    resolution: input['isHd'] === true ? 720 : 480,
    ...(isShaped && { aspectRatio: parameters['ar'] }),
    ...(seed !== null && { seed }),
    ...(firstFrame !== undefined && { firstFrame }),
    ...(lastFrame !== undefined && { lastFrame }),
  };
}

function imageRequest(input: JsonObject, references: readonly Buffer[]): ImageRequest {
  const prompt = parsePrompt(readText(input['prompt']) ?? '');
  const variation = Number(input['variation'] ?? 0);
  return {
    prompt: prompt.text,
    aspectRatio: prompt.aspectRatio,
    references,
    ...(prompt.seed === null ? {} : { seed: prompt.seed + variation }),
  };
}

/** The job, or the wire's answer for an unknown one. */
async function known(runner: JobRunner, id: string, fault: Fault | null): Promise<Job | Answer> {
  if (fault?.fault === 'lost' || fault?.fault === 'lost-silently') await runner.forget(id);
  if (fault?.fault === 'lost-silently') return text('');
  return runner.get(id) ?? json({ code: CODE.notFound, description: '任务不存在或已失效' }, 404);
}

function named(runner: JobRunner, request: WireRequest): Job[] {
  const ids = jsonObject(request)?.['ids'];
  if (!Array.isArray(ids)) return [];
  return ids.map((id) => runner.get(String(id))).filter((job) => job !== null);
}

async function cancel(runner: JobRunner, request: WireRequest, fault: Fault | null): Promise<Answer> {
  const job = await known(runner, request.params['id'] ?? '', fault);
  if ('status' in job) return job;
  if (await runner.cancel(job.id)) return submitResult(CODE.success, '取消成功', { result: job.id });
  return submitResult(CODE.validation, '任务已结束', { result: job.id });
}
