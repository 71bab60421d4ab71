import { success } from './envelope.ts';
import type { Envelope } from './envelope.ts';

/**
 * A task in the words of the REST documents: submitted, still running, finished, failed or cancelled (spec: decisions,
 * "Envelope" and "Results").
 */

/** What every reply about a task is made of; asked for in media/documents.ts. */
export interface TaskAnswer {
  readonly id: string;
  readonly kind: string;
  readonly generator: string;
  readonly state: 'QUEUED' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED';
  readonly stage: string;
  /** 0 to 100. */
  readonly progress: number;
  readonly queuePosition: number | null;
  readonly lastSeq: number;
  readonly text: string | null;
  /** What is missing in the result, and why. */
  readonly notes: readonly string[];
  readonly error: { readonly code: string; readonly message: string; readonly retryable: boolean } | null;
  readonly outputs: readonly MediaAnswer[];
  readonly result: TaskResultAnswer | null;
}

export interface MediaAnswer {
  readonly url: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly width: number | null;
  readonly height: number | null;
  /** Seconds. */
  readonly duration: number | null;
}

/** The typed results by their GraphQL type; media alone is in `outputs`. */
type TaskResultAnswer = { readonly __typename: 'Description'; readonly prompts: readonly string[] };

/** True when nothing comes after this state. */
export function isEnded(task: Pick<TaskAnswer, 'state'>): boolean {
  return task.state !== 'QUEUED' && task.state !== 'RUNNING';
}

/** The reply to a submission: `data` is the task's id. */
export function submitted(task: Pick<TaskAnswer, 'id'>): Envelope {
  return { status: true, data: task.id, msg: 'task submitted' };
}

/** The reply to a status question, and to a synchronous operation after its wait. */
export function taskReply(task: TaskAnswer): Envelope {
  if (task.state === 'QUEUED') return running(task, 'queued');
  if (task.state === 'RUNNING') return running(task, 'running');
  if (task.state === 'SUCCEEDED') return success(resultOf(task), [task.stage, ...task.notes].join('; '));
  if (task.state === 'CANCELLED') {
    return failed(task, { code: 'CANCELLED', message: 'the task was cancelled', retryable: false });
  }
  return failed(task, task.error ?? { code: 'INTERNAL', message: task.stage, retryable: false });
}

function running(task: TaskAnswer, state: 'queued' | 'running'): Envelope {
  const { id, stage, progress, queuePosition } = task;
  const data = { task_id: id, state, stage, progress, queue_position: queuePosition };
  return { status: state, data, msg: stage };
}

function failed(task: TaskAnswer, error: NonNullable<TaskAnswer['error']>): Envelope {
  const { message, retryable } = error;
  const data = { task_id: task.id, error: { code: error.code.toLowerCase(), message, retryable } };
  return { status: false, data, msg: message };
}

function resultOf(task: TaskAnswer): object {
  if (task.result?.__typename === 'Description') {
    const { prompts } = task.result;
    return { task_id: task.id, prompt: task.text ?? prompts[0] ?? null, prompts };
  }
  const media = task.outputs.map(mediaOf);
  const urls = media.map(({ url }) => url);
  return { task_id: task.id, url: urls[0] ?? null, urls, media };
}

function mediaOf(media: MediaAnswer) {
  const { url, contentType, bytes, sha256, width, height, duration } = media;
  return { url, content_type: contentType, bytes, sha256, width, height, duration };
}
