import { z } from 'zod';

import type { Fault } from '../../faults/faults.ts';
import { bytes, json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';
import { readForm } from '../../http/multipart.ts';
import { jsonObject } from '../../http/wire.ts';
import type { WireRequest } from '../../http/wire.ts';
import type { Job } from '../../jobs/job.ts';
import { invalid, openaiError } from './errors.ts';
import { modelRefusal } from './models.ts';
import { MODERATED, accept } from './start.ts';
import type { OpenaiContext } from './start.ts';

/** The /videos operations: start, status, content. There is no cancel, as on the real wire. */

const videoRequest = z.object({
  prompt: z.string().min(1).max(32_000),
  model: z.string().min(1).default('sora-2'),
  seconds: z.coerce
    .string()
    .pipe(z.enum(['4', '8', '12']))
    .default('4'),
  size: z.enum(['720x1280', '1280x720', '1024x1792', '1792x1024']).default('720x1280'),
});

/** Seconds until `expires_at` of a finished video. */
const KEPT_SECONDS = 3_600;

/** POST /v1/videos: multipart (with `input_reference`) or JSON. */
export async function startVideo(
  context: OpenaiContext,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const form = jsonObject(request) === null ? await readForm(request) : null;
  const parsed = videoRequest.safeParse(form?.fields ?? jsonObject(request));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return invalid(issue?.message ?? 'invalid body', issue?.path.join('.') ?? 'body');
  }
  const refusal = modelRefusal(parsed.data.model, 'videos');
  if (refusal !== null) return refusal;
  const frames = (form?.files ?? []).filter(({ field }) => field === 'input_reference');
  const started = await accept(context, {
    operation: 'videos',
    request,
    fault,
    images: frames.map((frame) => frame.bytes),
    input: parsed.data,
  });
  return 'answer' in started ? started.answer : json(videoJson(context, started.job));
}

/** POST /v1/videos/{id}/remix: a video of the same model, size and length by another prompt. */
export async function remixVideo(
  context: OpenaiContext,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const { id = '' } = request.params;
  const original = findVideo(context, id);
  if (original === null) return noVideo(id);
  if (original.state !== 'finished') return invalid('Video is not completed.', 'id');
  const prompt = jsonObject(request)?.['prompt'];
  if (typeof prompt !== 'string' || prompt === '') return invalid('prompt is required', 'prompt');
  const { model = 'sora-2', seconds = '4', size = '720x1280' } = original.input;
  const input = { prompt, model, seconds, size, remixedFrom: id };
  const started = await accept(context, { operation: 'videos', request, fault, images: [], input });
  return 'answer' in started ? started.answer : json(videoJson(context, started.job));
}

/** GET /v1/videos/{id}. */
export async function showVideo(
  context: OpenaiContext,
  { params }: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const { id = '' } = params;
  if (fault?.fault === 'lost' || fault?.fault === 'lost-silently') await context.runner.forget(id);
  const job = findVideo(context, id);
  return job === null ? noVideo(id) : json(videoJson(context, job));
}

/** GET /v1/videos/{id}/content?variant=video|thumbnail. */
export async function videoContent(context: OpenaiContext, { params, query }: WireRequest): Promise<Answer> {
  const { id = '' } = params;
  const job = findVideo(context, id);
  if (job === null) return noVideo(id);
  if (job.result === null)
    return invalid('Video is not ready yet, use GET /v1/videos/{video_id} to check.', 'id');
  const variant = query.get('variant') ?? 'video';
  const wanted = { video: 'video/', thumbnail: 'image/' }[variant];
  const file = job.result.files.find(
    ({ contentType }) => wanted !== undefined && contentType.startsWith(wanted),
  );
  if (file === undefined) return invalid('This stand-in has the variants video and thumbnail.', 'variant');
  const content = await context.journal.readImage(file.name);
  return content === null ? noVideo(id) : bytes(content, file.contentType);
}

/** GET /v1/videos: newest first, or oldest with `order=asc`; pages by `after`. */
export function listVideos(context: OpenaiContext, { query }: WireRequest): Answer {
  const all = context.runner.list().filter(({ operation }) => operation === 'videos');
  const newest = all.toSorted((one, other) => other.submittedAt - one.submittedAt);
  const ordered = query.get('order') === 'asc' ? newest.toReversed() : newest;
  const start = ordered.findIndex(({ id }) => id === query.get('after')) + 1;
  const limit = Math.min(100, Number(query.get('limit') ?? 20) || 20);
  const shown = ordered.slice(start, start + limit);
  return json({
    object: 'list',
    data: shown.map((job) => videoJson(context, job)),
    first_id: shown[0]?.id ?? null,
    last_id: shown.at(-1)?.id ?? null,
    has_more: start + limit < ordered.length,
  });
}

/** DELETE /v1/videos/{id}: of one that has ended. */
export async function deleteVideo(context: OpenaiContext, { params }: WireRequest): Promise<Answer> {
  const { id = '' } = params;
  const job = findVideo(context, id);
  if (job === null) return noVideo(id);
  if (job.state === 'queued' || job.state === 'running')
    return invalid('Video is not completed or failed.', 'id');
  await context.runner.forget(id);
  return json({ id, object: 'video.deleted', deleted: true });
}

function findVideo({ runner }: OpenaiContext, id: string): Job | null {
  const job = runner.get(id);
  return job?.operation === 'videos' ? job : null;
}

function noVideo(id: string): Answer {
  return openaiError(404, {
    message: `Video with id '${id}' not found.`,
    type: 'invalid_request_error',
    param: 'video_id',
  });
}

const STATUS = {
  queued: 'queued',
  running: 'in_progress',
  finished: 'completed',
  failed: 'failed',
  cancelled: 'failed',
} as const;

function videoJson({ runner }: OpenaiContext, job: Job): object {
  const { id, state, input, submittedAt, endedAt, failure } = job;
  const endedSeconds = endedAt === null ? null : Math.floor(endedAt / 1_000);
  const isDone = state === 'finished';
  return {
    id,
    object: 'video',
    model: input['model'],
    status: STATUS[state],
    progress: runner.readProgress(job),
    created_at: Math.floor(submittedAt / 1_000),
    completed_at: isDone ? endedSeconds : null,
    expires_at: isDone && endedSeconds !== null ? endedSeconds + KEPT_SECONDS : null,
    size: input['size'],
    seconds: input['seconds'],
    prompt: input['prompt'],
    remixed_from_video_id: input['remixedFrom'] ?? null,
    error: failure === null ? null : toError(failure),
  };
}

function toError(failure: string): object {
  return failure === MODERATED
    ? { code: 'moderation_blocked', message: 'Your request was blocked by our moderation system.' }
    : { code: 'internal_error', message: failure };
}
