import { z } from 'zod';

import type { JsonObject } from '../../../platform/json.ts';
import type { Fault } from '../../faults/faults.ts';
import type { Answer } from '../../http/answer.ts';
import { jsonObject, type WireRequest } from '../../http/wire.ts';
import type { Job, JobState } from '../../jobs/job.ts';
import { parseImageDataUrl } from '../shared/inputs.ts';
import { newNumericId } from '../shared/numeric-id.ts';
import { storeInputs } from '../shared/perform.ts';
import { findBannedWord } from '../shared/rules/text.ts';
import { toJobFault } from '../shared/stand-in.ts';
import { FAILED, MODERATED, refusal, success } from './answers.ts';
import { ID, videoFileId, type MinimaxParts } from './parts.ts';

const frame = z.string().regex(/^data:image\/[\w.+-]+;base64,/, 'this stand-in takes data: URLs only');
const videoRequest = z
  .object({
    model: z.string().min(1),
    prompt: z.string().max(2_000).nullish(),
    duration: z.literal([6, 10]).default(6),
    resolution: z.enum(['512P', '720P', '768P', '1080P']).default('768P'),
    callback_url: z.string().nullish(),
    first_frame_image: frame.nullish(),
    last_frame_image: frame.nullish(),
  })
  .refine(({ prompt, first_frame_image: first }) => Boolean(prompt) || Boolean(first), {
    message: 'prompt is required',
    path: ['prompt'],
  })
  .refine(({ duration, resolution }) => duration === 6 || resolution !== '1080P', {
    message: '1080P is rendered for 6 seconds only',
    path: ['duration'],
  });

/** POST /v1/video_generation. */
export async function startVideo(
  parts: MinimaxParts,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const parsed = videoRequest.safeParse(jsonObject(request));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refusal(2013, `${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'invalid'}`, NO_TASK);
  }
  const requested = parsed.data;
  if (fault?.fault === 'moderation' || findBannedWord(requested.prompt ?? '') !== null) {
    return refusal(1026, '', NO_TASK);
  }
  if (fault?.fault === 'queue-full') return refusal(1002, '', NO_TASK);
  const frames = [requested.first_frame_image, requested.last_frame_image].map(
    (url) => parseImageDataUrl(url)?.bytes,
  );
  const id = newNumericId(ID.task, ID.digits);
  const input: JsonObject = {
    prompt: requested.prompt ?? '',
    duration: requested.duration,
    shortEdge: Number(requested.resolution.slice(0, -1)),
    callbackUrl: requested.callback_url ?? null,
    hasFirst: frames[0] !== undefined,
    hasLast: frames[1] !== undefined,
    pictures: await storeInputs(
      parts.journal,
      id,
      frames.filter((image) => image !== undefined),
    ),
  };
  const jobFault = toJobFault(fault);
  // The wire has no field for a caller's reference: starts are listed by /_control/jobs only.
  const job = await parts.runner.submit({ id, operation: 'video', reference: null, input, fault: jobFault });
  return job === null ? refusal(1002, '', NO_TASK) : success({ task_id: id });
}

/** A refused start has an empty task id. */
const NO_TASK = { task_id: '' };

const STATUS: Readonly<Record<JobState, string>> = {
  queued: 'Queueing',
  running: 'Processing',
  finished: 'Success',
  failed: 'Fail',
  cancelled: 'Fail',
};

/** GET /v1/query/video_generation?task_id= . */
export async function queryVideo(
  { runner }: MinimaxParts,
  { query }: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const id = query.get('task_id') ?? '';
  if (fault?.fault === 'lost') await runner.forget(id);
  const job = runner.get(id);
  const unknown = { task_id: id, status: '', file_id: '' };
  if (job?.operation !== 'video') return refusal(2013, 'task_id not exist', unknown);
  return videoAnswer(job);
}

/** The JSON of a video, in queries and webhooks. */
export function videoAnswer(job: Job): Answer {
  const { id } = job;
  const body = { task_id: id, status: toStatus(job), file_id: '', video_width: 0, video_height: 0 };
  if (job.state === 'failed') return toFailure(job, body);
  const file = job.result?.files[0];
  if (job.state !== 'finished' || file === undefined) return success(body);
  return success({
    ...body,
    file_id: videoFileId(id),
    video_width: file.width,
    video_height: file.height,
  });
}

/** A recently accepted task is `Preparing`. */
function toStatus(job: Job): string {
  const isNew = job.state === 'queued' && Date.now() - job.submittedAt < PREPARING_MS;
  return isNew ? 'Preparing' : STATUS[job.state];
}

const PREPARING_MS = 100;

/** A failed task has the status `Fail`, and its reason as the code of the answer. */
function toFailure({ failure }: Job, body: object): Answer {
  if (failure === MODERATED) return refusal(1027, '', body);
  const [, reason] = /^refused: ([^]*)$/.exec(failure ?? '') ?? [];
  if (reason !== undefined) return refusal(2013, reason, body);
  return refusal(1000, failure === FAILED ? '' : (failure ?? ''), body);
}

/** GET /v1/files/retrieve?file_id= : videos have a URL, samples of voices have none. */
export function retrieveFile({ runner, results }: MinimaxParts, { query, baseUrl }: WireRequest): Answer {
  const fileId = query.get('file_id') ?? '';
  const upload = runner.get(fileId);
  if (upload?.operation === 'upload') return success({ file: fileJson(upload, { download_url: '' }) });
  const job = fileId.startsWith(ID.video) ? runner.get(ID.task + fileId.slice(1)) : null;
  const url = job === null ? null : results.toUrl(job, baseUrl);
  if (job === null || url === null) return refusal(2013, 'file_id not exist');
  const file = {
    file_id: Number(fileId),
    bytes: 0,
    created_at: Math.floor((job.endedAt ?? 0) / 1_000),
    filename: 'output_aigc.mp4',
    purpose: 'video_generation',
    download_url: url,
  };
  return success({ file });
}

/** An uploaded file as the wire shows it. */
export function fileJson(upload: Job, more: object = {}): object {
  return {
    file_id: Number(upload.id),
    bytes: upload.input['bytes'],
    created_at: Math.floor(upload.submittedAt / 1_000),
    filename: upload.input['filename'],
    purpose: upload.input['purpose'],
    ...more,
  };
}
