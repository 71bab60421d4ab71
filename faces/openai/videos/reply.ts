import { endWords } from '../answers/failures.ts';
import type { FaceTask } from '../documents/task.ts';
import { toSeconds } from '../table/route.ts';

const STATES = {
  QUEUED: 'queued',
  RUNNING: 'in_progress',
  SUCCEEDED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'failed',
} as const;

/** What was asked for of a video. */
interface AskedFor {
  readonly duration?: number;
  readonly resolution?: string;
  readonly aspectRatio?: string;
}

/** A task of a video in OpenAI's form, whose thirteen members are always there. Pure. */
export function toVideo(task: FaceTask): object {
  const { id, state, progress, createdAt, endedAt, input, outputs } = task;
  const [film] = outputs;
  const { duration, resolution, aspectRatio } = Object(input?.options) as AskedFor;
  const seconds = film?.duration ?? duration;
  return {
    id,
    object: 'video',
    model: input?.model ?? task.model ?? task.generator,
    status: STATES[state],
    progress,
    created_at: toSeconds(createdAt),
    completed_at: endedAt === null ? null : toSeconds(endedAt),
    expires_at: null,
    prompt: input?.prompt ?? null,
    size: film?.width == null ? (resolution ?? aspectRatio ?? '') : `${film.width}x${film.height}`,
    seconds: seconds === undefined ? '' : String(Math.round(seconds)),
    remixed_from_video_id: null,
    error: toVideoError(task),
  };
}

function toVideoError(task: FaceTask): object | null {
  if (task.state !== 'FAILED' && task.state !== 'CANCELLED') return null;
  const { code, message } = endWords(task);
  return { code: code ?? 'server_error', message };
}
