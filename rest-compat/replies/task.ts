import type { Json } from '../../platform/json.ts';
import { success } from './envelope.ts';
import type { Envelope } from './envelope.ts';

/** A task in the words of the REST documents: submitted, still running, finished, failed or cancelled. */

/** What every reply about a task is made of; asked for in media/documents/task.ts. */
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

/** A stored file with its measured facts. */
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
type TaskResultAnswer =
  | { readonly __typename: 'Description'; readonly prompts: readonly string[] }
  | {
      readonly __typename: 'ClonedVoice';
      readonly voice: { readonly id: string };
      readonly demo: { readonly url: string } | null;
    }
  | AnalysisAnswer
  | PersonAnswer;

/** Typed results of work with people in it. */
type PersonAnswer =
  | { readonly __typename: 'Character'; readonly characterId: string }
  | { readonly __typename: 'AvatarSource'; readonly videoId: string }
  | { readonly __typename: 'Avatar'; readonly digitalId: string }
  | {
      readonly __typename: 'PersonDetection';
      readonly hasPerson: boolean | null;
      readonly reason: string | null;
      readonly subjects: readonly Json[];
    };

interface AnalysisAnswer extends LanguageFacts {
  readonly __typename: 'Analysis';
}

/** Who made a text, and what it took. */
interface LanguageFacts {
  readonly model: string;
  readonly provider: string;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

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
  if (task.state === 'SUCCEEDED') return { ...success(resultOf(task), wordsOf(task)), ...extraOf(task) };
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

/** The reply of a synchronous analysis: `data` is the text itself as soon as there is one. */
export function analysisReply(task: TaskAnswer): Envelope {
  const reply = taskReply(task);
  return task.state === 'SUCCEEDED' ? { ...reply, data: task.text ?? '' } : reply;
}

/** What language operations add to their text as `extra`. */
export function languageExtra({ model, provider, usage }: LanguageFacts): object {
  return {
    model,
    provider,
    usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
  };
}

function wordsOf({ stage, notes }: TaskAnswer): string {
  return [stage, ...notes].join('; ');
}

function extraOf({ result }: TaskAnswer): { readonly extra?: object } {
  return result?.__typename === 'Analysis' ? { extra: languageExtra(result) } : {};
}

function resultOf(task: TaskAnswer): object {
  const { id, text, result } = task;
  if (result?.__typename === 'Description') {
    const { prompts } = result;
    return { task_id: id, prompt: text ?? prompts[0] ?? null, prompts };
  }
  if (result?.__typename === 'ClonedVoice') {
    return { voice_id: result.voice.id, demo_url: result.demo?.url ?? null };
  }
  if (result?.__typename === 'Analysis') return { task_id: id, text };
  if (result !== null) return { task_id: id, ...personResultOf(result) };
  const media = task.outputs.map(mediaOf);
  const urls = media.map(({ url }) => url);
  return { task_id: task.id, url: urls[0] ?? null, urls, media };
}

function personResultOf(result: PersonAnswer): object {
  switch (result.__typename) {
    case 'Character':
      return { character_id: result.characterId };
    case 'AvatarSource':
      return { video_id: result.videoId };
    case 'Avatar':
      return { digital_id: result.digitalId };
    default: {
      const { hasPerson, reason, subjects } = result;
      return { has_person: hasPerson, reason, subjects };
    }
  }
}

function mediaOf(media: MediaAnswer) {
  const { url, contentType, bytes, sha256, width, height, duration } = media;
  return { url, content_type: contentType, bytes, sha256, width, height, duration };
}
