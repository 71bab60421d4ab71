import { z } from 'zod';

import { UpstreamError } from '../../domain/failure.ts';
import type { VideoRequest } from '../../domain/work/request.ts';
import type { CallContext, Handle, JobStatus, StartContext } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { id, text } from '../shared/reader.ts';
import { contentItems, chooseRatio, withVendorOptions } from '../shared/request-body.ts';
import { buildPath, failureOfTask, read, startedTask, throwRefusal } from './wire.ts';

/** Videos of the v2 API (MiniMax-H3 and later): real HTTP statuses, and the result's address in the task itself. */

/** Frames and references are sent inline: up to nine images of 20 MB each. */
const START_TIMEOUT_MS = 300_000;

const queried = z.object({
  task: z.object({
    status: text,
    content: z.object({ url: text }).nullish().catch(null),
    error: z.object({ code: id, message: text }).nullish().catch(null),
  }),
});

/** Whether the v2 API makes the videos of this model. */
export function isOfVersion2(model: string | null | undefined): boolean {
  return /^MiniMax-H\d/.test(model ?? '');
}

/** POST /v2/video_generation. */
export async function startVideoOfVersion2(
  exchange: Exchange,
  request: VideoRequest,
  context: StartContext,
): Promise<Handle> {
  const answer = await exchange(context, {
    method: 'POST',
    path: buildPath(context.connection, '/v2/video_generation'),
    json: withVendorOptions(request, {
      model: context.connection.model,
      content: await contentItems(request),
      resolution: request.resolution,
      duration: request.duration,
      ratio: chooseRatio(request),
      callback_url: context.webhookUrl,
    }),
    timeoutMs: START_TIMEOUT_MS,
  });
  throwRefusal(answer, { content: 'prompt', invalid: 'INVALID_INPUT', hasCode: false });
  return { taskId: startedTask(answer), version: '2' };
}

/** DELETE /v2/video_generation/{task_id}, of one that has ended. */
export async function eraseVideoOfVersion2(
  exchange: Exchange,
  taskId: string,
  context: CallContext,
): Promise<void> {
  const path = buildPath(context.connection, `/v2/video_generation/${encodeURIComponent(taskId)}`);
  const answer = await exchange(context, { method: 'DELETE', path, retry: 'safe' });
  // A task that is unknown, or was cancelled, is refused as invalid: there is nothing to delete.
  if (answer.status !== 400) throwRefusal(answer, { content: 'prompt', invalid: 'LOST', hasCode: false });
}

/** GET /v2/query/video_generation/{task_id}. Unknown states mean running. */
export async function videoStatusOfVersion2(
  exchange: Exchange,
  taskId: string,
  context: CallContext,
): Promise<JobStatus> {
  const answer = await exchange(context, {
    method: 'GET',
    path: buildPath(context.connection, `/v2/query/video_generation/${encodeURIComponent(taskId)}`),
    retry: 'safe',
  });
  throwRefusal(answer, { content: 'prompt', invalid: 'LOST', hasCode: false });
  const { status, content, error } = read(queried, answer).task;
  switch (status) {
    case 'queued':
      return { state: 'queued' };
    case 'succeeded':
      if (!content?.url)
        throw new UpstreamError('UNAVAILABLE', 'minimax finished a video without its address');
      return { state: 'finished', outcome: { files: [{ url: content.url }], texts: [] } };
    case 'failed':
    case 'cancelled':
    case 'expired':
      return { state: 'failed', error: failureOfTask(error, answer) };
    default:
      return { state: 'running', progress: null, stage: 'rendering' };
  }
}
