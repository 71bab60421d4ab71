import type { DataOf } from '../documents/graphql.ts';
import type { Chat } from '../documents/media/questions.ts';
import type { TaskFields } from '../documents/media/task.ts';
import { success, type Envelope } from './envelopes.ts';
import { withRestNames } from './field-names.ts';

/** Replies about tasks: submitted, still running, finished, failed or cancelled. */

/** Whether this state is final. */
export function isEnded(task: Pick<TaskFields, 'state'>): boolean {
  return task.state !== 'QUEUED' && task.state !== 'RUNNING';
}

/** The reply to a submission: `data` is the task's id. */
export function submitted(task: Pick<TaskFields, 'id'>): Envelope {
  return { status: true, data: task.id, msg: 'task submitted' };
}

/** The reply of status operations, and of synchronous operations after their wait. */
export function taskReply(task: TaskFields): Envelope {
  if (task.state === 'QUEUED') return runningReply(task, 'queued');
  if (task.state === 'RUNNING') return runningReply(task, 'running');
  if (task.state === 'SUCCEEDED')
    return { ...success(toResult(task), formatMessage(task)), ...toExtra(task) };
  if (task.state === 'CANCELLED') {
    return failedReply(task, { code: 'CANCELLED', message: 'the task was cancelled', retryable: false });
  }
  return failedReply(task, task.error ?? { code: 'INTERNAL', message: task.stage, retryable: false });
}

function runningReply(task: TaskFields, state: 'queued' | 'running'): Envelope {
  const { id, stage, progress, queuePosition } = task;
  const data = { task_id: id, state, stage, progress, queue_position: queuePosition };
  return { status: state, data, msg: stage };
}

type TaskError = Omit<NonNullable<TaskFields['error']>, 'code'> & { readonly code: string };

function failedReply(task: TaskFields, error: TaskError): Envelope {
  const { code, retryable } = error;
  const message = withRestNames(error.message, /^(\w+): /.exec(error.message)?.[1]);
  const data = { task_id: task.id, error: { code: code.toLowerCase(), message, retryable } };
  return { status: false, data, msg: message };
}

/** What language operations reply as `extra`. */
export function languageExtra({
  model,
  provider,
  usage,
}: Pick<DataOf<typeof Chat>['chat'], 'model' | 'provider' | 'usage'>): object {
  return {
    model,
    provider,
    usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
  };
}

function formatMessage({ stage, notes }: TaskFields): string {
  return [stage, ...notes].join('; ');
}

function toExtra({ id, result }: TaskFields): { readonly extra?: object } {
  return result?.__typename === 'Analysis' ? { extra: { task_id: id, ...languageExtra(result) } } : {};
}

function toResult({ id, text, result, outputs, provider, model }: TaskFields): object | string {
  const ran = { task_id: id, provider, model };
  switch (result?.__typename) {
    case 'Description':
      return { ...ran, prompt: text ?? result.prompts[0] ?? null, prompts: result.prompts };
    case 'ClonedVoice':
      return { provider, model, voice_id: result.voice.id, demo_url: result.demo?.url ?? null };
    case 'Analysis':
      return text ?? '';
    case 'Character':
      return { ...ran, character_id: result.characterId };
    case 'AvatarSource':
      return { ...ran, video_id: result.videoId };
    case 'Avatar':
      return { ...ran, digital_id: result.digitalId };
    case 'PersonDetection': {
      const { hasPerson, reason, subjects } = result;
      return { ...ran, has_person: hasPerson, reason, subjects };
    }
    case 'ComfyResult':
      return mediaResult(ran, outputs);
    default: {
      // Media without further results; a type of result that is not listed above does not compile.
      result satisfies null;
      return mediaResult(ran, outputs);
    }
  }
}

function mediaResult(ran: object, outputs: TaskFields['outputs']): object {
  const media = outputs.map(toMedia);
  const urls = media.map(({ url }) => url);
  return { ...ran, url: urls[0] ?? null, urls, media };
}

function toMedia(media: TaskFields['outputs'][number]) {
  const { url, contentType, bytes, sha256, width, height, duration } = media;
  return { url, content_type: contentType, bytes, sha256, width, height, duration };
}
