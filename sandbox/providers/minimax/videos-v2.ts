import { z } from 'zod';

import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import { jsonObject, type WireRequest } from '../../http/wire.ts';
import type { Job, JobState } from '../../jobs/job.ts';
import { contentItems, storeContent, joinTexts } from '../shared/content-items.ts';
import { newNumericId } from '../shared/numeric-id.ts';
import { findBannedWord } from '../shared/rules/text.ts';
import { toJobFault } from '../shared/stand-in.ts';
import { MODERATED } from './answers.ts';
import { ID, type MinimaxParts } from './parts.ts';

/** Videos of the v2 API: errors have an HTTP status, with the vendor's code at the end of the message. */

const request = z
  .object({
    model: z.string().regex(/^MiniMax-H\d/),
    content: contentItems,
    resolution: z.enum(['480P', '768P', '2K']).default('768P'),
    duration: z.int().min(4).max(15).default(5),
    ratio: z.enum(['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', 'adaptive']).default('adaptive'),
    callback_url: z.string().nullish(),
    aigc_watermark: z.boolean().nullish(),
  })
  .refine(({ content, ratio }) => ratio !== 'adaptive' || content.some(({ type }) => type !== 'text'), {
    message: 'a concrete ratio is required for text to video',
    path: ['ratio'],
  });

/** POST /v2/video_generation. */
export async function startVideoOfVersion2(
  { runner, journal }: MinimaxParts,
  sent: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const parsed = request.safeParse(jsonObject(sent));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return problem(400, `invalid params, ${issue?.path.join('.')}: ${issue?.message ?? 'invalid'}`, 2013);
  }
  const { content, resolution, duration, ratio, callback_url: callbackUrl } = parsed.data;
  if (fault?.fault === 'moderation' || findBannedWord(joinTexts(content)) !== null) {
    return problem(422, 'video description contains sensitive content', 1026);
  }
  const id = newNumericId(ID.task, ID.digits);
  const input = {
    ...(await storeContent(journal, id, content)),
    model: parsed.data.model,
    resolution,
    duration,
    ratio,
    callbackUrl: callbackUrl ?? null,
  };
  const job =
    fault?.fault === 'queue-full'
      ? null
      : await runner.submit({ id, operation: 'videoV2', reference: null, input, fault: toJobFault(fault) });
  return job === null ? problem(429, 'rate limit', 1002) : json({ task_id: id });
}

/** GET /v2/query/video_generation/{task_id}. */
export async function queryVideoOfVersion2(
  { runner, results }: MinimaxParts,
  { params, baseUrl }: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const id = params['id'] ?? '';
  if (fault?.fault === 'lost') await runner.forget(id);
  const job = runner.get(id);
  if (job?.operation !== 'videoV2') return problem(400, 'record not found', 2013);
  return json(taskBody(job, results.toUrl(job, baseUrl)));
}

/** DELETE /v2/video_generation/{task_id}: cancels what waits, deletes what has ended. */
export async function removeVideoOfVersion2(
  { runner }: MinimaxParts,
  { params }: WireRequest,
): Promise<Answer> {
  const id = params['id'] ?? '';
  const job = runner.get(id);
  if (job?.operation !== 'videoV2') return problem(400, 'record not found', 2013);
  if (job.state === 'running' || job.state === 'cancelled') return problem(400, `task is ${job.state}`, 2013);
  const action = job.state === 'queued' ? 'cancelled' : 'deleted';
  if (action === 'cancelled') await runner.cancel(id);
  else await runner.forget(id);
  return json({ task_id: id, action });
}

const STATUS: Readonly<Record<JobState, string>> = {
  queued: 'queued',
  running: 'running',
  finished: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** A task as queries and callbacks show it. */
export function taskBody(job: Job, url: string | null): object {
  const { model, resolution, duration, ratio } = job.input;
  const seconds = (time: number | null) => Math.floor((time ?? job.submittedAt) / 1_000);
  const task = {
    id: job.id,
    model,
    status: STATUS[job.state],
    created_at: seconds(job.submittedAt),
    updated_at: seconds(job.endedAt),
    resolution,
    duration,
    ratio,
    ...(url !== null && { content: { url } }),
    ...(job.state === 'failed' && {
      error: { code: job.failure === MODERATED ? '1027' : '1000', message: job.failure ?? '' },
    }),
  };
  return { task };
}

function problem(status: number, message: string, code: number): Answer {
  const error = { message: `${message} (${code})`, http_code: String(status) };
  return json({ type: 'error', error }, status);
}
