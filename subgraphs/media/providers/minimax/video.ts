import { z } from 'zod';

import { UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { VideoRequest } from '../../domain/work/request.ts';
import type { CallContext, Handle, JobStatus, RemoteFile, StartContext } from '../contract/provider.ts';
import { dataUri, type Exchange } from '../shared/exchange.ts';
import { id, text } from '../shared/reader.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import {
  eraseVideoOfVersion2,
  isOfVersion2,
  startVideoOfVersion2,
  videoStatusOfVersion2,
} from './video-v2.ts';
import { buildPath, failureOfVideo, read, startedTask, throwRefusal } from './wire.ts';

/** Videos: one submission for text, a first frame, or a first and a last one; the result is a file id to resolve. */

const DEFAULT_VIDEO_MODEL = 'MiniMax-Hailuo-02';
/** Frames are sent inline: up to two images of 20 MB each. */
const START_TIMEOUT_MS = 120_000;

const queried = z.object({ status: text, file_id: id });
const retrieved = z.object({ file: z.object({ download_url: z.string().min(1) }) });

/** POST /v1/video_generation. */
export async function startVideo(
  exchange: Exchange,
  request: VideoRequest,
  context: StartContext,
): Promise<Handle> {
  if (isOfVersion2(context.connection.model)) return startVideoOfVersion2(exchange, request, context);
  const { prompt, firstFrame, lastFrame, resolution, duration } = request;
  const answer = await exchange(context, {
    method: 'POST',
    path: buildPath(context.connection, '/v1/video_generation'),
    json: withVendorOptions(request, {
      model: context.connection.model ?? DEFAULT_VIDEO_MODEL,
      prompt,
      duration,
      resolution: resolution?.toUpperCase(),
      first_frame_image: firstFrame && (await toImage(firstFrame, 'firstFrame')),
      last_frame_image: lastFrame && (await toImage(lastFrame, 'lastFrame')),
      callback_url: context.webhookUrl,
    }),
    timeoutMs: START_TIMEOUT_MS,
  });
  throwRefusal(answer, { content: 'prompt', invalid: 'INVALID_INPUT' });
  return { taskId: startedTask(answer) };
}

/** Deletes what is kept of a video that has ended; v1 has no request for it. */
export async function eraseVideo(exchange: Exchange, handle: Handle, context: CallContext): Promise<void> {
  const { taskId, version } = handle;
  if (version === '2' && typeof taskId === 'string') await eraseVideoOfVersion2(exchange, taskId, context);
}

async function toImage(file: InputFile, field: string): Promise<string> {
  return file.publicUrl ?? dataUri(file, field);
}

/** GET /v1/query/video_generation, and the file's URL when it is done. Unknown states mean running. */
export async function videoStatus(
  exchange: Exchange,
  handle: Handle,
  context: CallContext,
): Promise<JobStatus> {
  const taskId = typeof handle['taskId'] === 'string' ? handle['taskId'] : '';
  if (handle['version'] === '2') return videoStatusOfVersion2(exchange, taskId, context);
  const answer = await exchange(context, {
    method: 'GET',
    path: buildPath(context.connection, '/v1/query/video_generation', { task_id: taskId }),
    retry: 'safe',
  });
  const { status, file_id: fileId } = queried.safeParse(answer.json).data ?? {};
  // A failed video has its reason in the result code of a successful answer.
  if (answer.status < 400 && status === 'Fail') return { state: 'failed', error: failureOfVideo(answer) };
  throwRefusal(answer, { content: 'prompt', invalid: 'LOST' });
  switch (status) {
    case 'Preparing':
    case 'Queueing':
      return { state: 'queued' };
    case 'Success': {
      if (!fileId) throw new UpstreamError('UNAVAILABLE', 'minimax finished a video without its file');
      const file = await fetchFile(exchange, fileId, context);
      return { state: 'finished', outcome: { files: [file], texts: [] } };
    }
    default:
      return { state: 'running', progress: null, stage: 'rendering' };
  }
}

/** GET /v1/files/retrieve: a URL that is valid for some hours. Each request returns a new one. */
async function fetchFile(exchange: Exchange, fileId: string, context: CallContext): Promise<RemoteFile> {
  const answer = await exchange(context, {
    method: 'GET',
    path: buildPath(context.connection, '/v1/files/retrieve', { file_id: fileId }),
    retry: 'safe',
  });
  throwRefusal(answer, { content: 'prompt', invalid: 'LOST' });
  return { url: read(retrieved, answer).file.download_url };
}
