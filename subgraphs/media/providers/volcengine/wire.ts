import { z } from 'zod';

import { UpstreamError } from '../../domain/failure.ts';
import type { WorkRequest } from '../../domain/work/request.ts';
import type { JobStatus, Outcome } from '../contract/provider.ts';
import { remoteFileOf, type ExchangeAnswer } from '../shared/exchange.ts';
import { createReader, text } from '../shared/reader.ts';
import { errorOfCode, errorOfDoor, isOfQuestion, SUCCESS } from './refusals.ts';

/** The bodies of Volcengine's visual service, read leniently. */

/** How volcengine's answers are read. */
export const { unreadable } = createReader('volcengine');

const envelope = z.object({
  code: z.number(),
  message: text,
  data: z
    .object({ task_id: z.union([z.string(), z.number()]).nullish(), status: text, video_url: text })
    .loose()
    .nullish()
    .catch(null),
});

/** What the door before every service says when it lets nobody in. */
const door = z.object({
  ResponseMetadata: z.object({ Error: z.object({ Code: text, Message: text }).nullish() }),
});

/** What a task came to, as far as Kiln reads it. */
export interface TaskData {
  readonly status: string;
  readonly videoUrl: string | null;
  /** `resp_data`, a text that is JSON again; empty when there is none. */
  readonly said: Readonly<Record<string, unknown>>;
}

type Kind = WorkRequest['kind'];

/** The id of a task that was taken. Throws what is wrong, naming the input of this kind of work. */
export function startedTask(answer: ExchangeAnswer, kind: Kind): string {
  const { code, message, data } = read(answer);
  if (code !== SUCCESS) throw errorOfCode({ code, message: message ?? '', answer, kind });
  if (data?.task_id !== undefined && data.task_id !== null) return String(data.task_id);
  throw unreadable(new Error('no task_id'), 'a start');
}

/** Where a task stands; `outcome` reads what it came to. Throws when the question failed, or the task is not known. */
export function taskStatus(
  answer: ExchangeAnswer,
  { kind, outcome }: { readonly kind: Kind; readonly outcome: (data: TaskData) => Outcome },
): JobStatus {
  const { code, message, data } = read(answer);
  if (code !== SUCCESS) {
    const error = errorOfCode({ code, message: message ?? '', answer, kind });
    if (isOfQuestion(error, answer)) throw error;
    return { state: 'failed', error };
  }
  switch (data?.status) {
    case 'in_queue':
      return { state: 'queued', stage: 'queued upstream' };
    case 'done':
      return endOf(taskData(data), outcome);
    case 'not_found':
    case 'expired': {
      const words = 'volcengine does not know this task (any more)';
      throw new UpstreamError('LOST', words);
    }
    // Words we do not know mean running: a new word must never fail a paid task.
    default:
      return { state: 'running', progress: null, stage: 'rendering' };
  }
}

/** A code inside `resp_data` is the work's own. */
function endOf(data: TaskData, outcome: (data: TaskData) => Outcome): JobStatus {
  const { code, msg } = data.said;
  if (typeof code === 'number' && code !== 0) {
    const message = `volcengine failed: ${typeof msg === 'string' ? msg : code}`.slice(0, 400);
    return { state: 'failed', error: new UpstreamError('UNAVAILABLE', message) };
  }
  return { state: 'finished', outcome: outcome(data) };
}

/** Somebody in the picture or not; any other verdict, and none, is that it is not known. */
export function detectionOutcome({ said }: TaskData): Outcome {
  const { status, reason, subjects } = said;
  const hasPerson = status === 1 ? true : status === 0 ? false : null;
  return {
    files: [],
    texts: [],
    facts: {
      hasPerson,
      reason: typeof reason === 'string' ? reason : hasPerson === null ? 'volcengine gave no verdict' : null,
      subjects: Array.isArray(subjects) ? subjects : [],
    },
  };
}

/** The video of a task: its address is good for an hour. */
export function videoOutcome({ videoUrl, said }: TaskData): Outcome {
  const { url, vid } = said;
  const inside = typeof vid === 'object' && vid !== null && 'url' in vid ? vid.url : null;
  const address = [videoUrl, url, inside].find((one) => typeof one === 'string' && one !== '');
  if (typeof address !== 'string') throw unreadable(new Error('no video'), 'a finished task');
  return { files: [remoteFileOf(address)], texts: [] };
}

/** The avatar that was made. */
export function avatarOutcome({ said: { resource_id: id } }: TaskData): Outcome {
  if (typeof id !== 'string' || id === '') throw unreadable(new Error('no resource_id'), 'a finished task');
  return { files: [], texts: [], facts: { digitalId: id } };
}

function taskData(data: NonNullable<z.output<typeof envelope>['data']>): TaskData {
  const { status, video_url: videoUrl, resp_data: said } = data;
  return { status: status ?? '', videoUrl: videoUrl ?? null, said: objectOf(said) };
}

function objectOf(said: unknown): Readonly<Record<string, unknown>> {
  const value = typeof said === 'string' ? parsed(said) : said;
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function parsed(json: string): unknown {
  try {
    return json === '' ? null : JSON.parse(json);
  } catch (cause) {
    throw unreadable(cause, 'a finished task');
  }
}

function read(answer: ExchangeAnswer): z.output<typeof envelope> {
  const found = envelope.safeParse(answer.json);
  if (found.success) return found.data;
  throw errorOfDoor(answer, doorMessage(answer)) ?? unreadable(found.error, 'an answer');
}

/** What the door said, in its own words. */
export function doorMessage({ json }: ExchangeAnswer): string {
  const { data } = door.safeParse(json);
  const error = data?.ResponseMetadata.Error;
  return [error?.Code, error?.Message].filter((words) => Boolean(words)).join(': ');
}
