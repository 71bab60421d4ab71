import { z } from 'zod';

import { UpstreamError } from '../../domain/failure.ts';
import type { WorkRequest } from '../../domain/work/request.ts';
import type { JobStatus, Outcome } from '../contract/provider.ts';
import { toRemoteFile, type ExchangeAnswer } from '../shared/exchange.ts';
import { createReader, id, text } from '../shared/reader.ts';
import { errorOfCode, errorOfGateway, isRequestError, SUCCESS } from './refusals.ts';

/** The bodies of Volcengine's visual service, parsed leniently. */

/** The reader of volcengine's answers. */
export const { unreadable } = createReader('volcengine');

const envelope = z.object({
  code: z.number(),
  message: text,
  data: z.object({ task_id: id, status: text, video_url: text }).loose().nullish().catch(null),
});

/** The error body of the API gateway before every service. */
const gatewayError = z.object({
  ResponseMetadata: z.object({ Error: z.object({ Code: text, Message: text }).nullish() }),
});

/** The fields of a task's result that Kiln uses. */
export interface TaskData {
  readonly status: string;
  readonly videoUrl: string | null;
  /** `resp_data`, a string of JSON; empty when there is none. */
  readonly result: Readonly<Record<string, unknown>>;
}

type Kind = WorkRequest['kind'];

/** The id of an accepted task. Throws the service's error, naming the input field of this kind of work. */
export function startedTask(answer: ExchangeAnswer, kind: Kind): string {
  const { code, message, data } = read(answer);
  if (code !== SUCCESS) throw errorOfCode({ code, message: message ?? '', answer, kind });
  if (data?.task_id) return data.task_id;
  throw unreadable(new Error('no task_id'), 'a start');
}

/** The status of a task; `outcome` reads its result. Throws when the request failed, or the task is not known. */
export function taskStatus(
  answer: ExchangeAnswer,
  { kind, outcome }: { readonly kind: Kind; readonly outcome: (data: TaskData) => Outcome },
): JobStatus {
  const { code, message, data } = read(answer);
  if (code !== SUCCESS) {
    const error = errorOfCode({ code, message: message ?? '', answer, kind });
    if (isRequestError(error, answer)) throw error;
    return { state: 'failed', error };
  }
  switch (data?.status) {
    case 'in_queue':
      return { state: 'queued' };
    case 'done':
      return toJobStatus(taskData(data), outcome);
    case 'not_found':
    case 'expired': {
      const words = 'volcengine does not know this task (any more)';
      throw new UpstreamError('LOST', words);
    }
    // Unknown states mean running: a new state must never fail a paid task.
    default:
      return { state: 'running', progress: null, stage: 'rendering' };
  }
}

/** A code inside `resp_data` is about the work itself. */
function toJobStatus(data: TaskData, outcome: (data: TaskData) => Outcome): JobStatus {
  const { code, msg } = data.result;
  if (typeof code === 'number' && code !== 0) {
    const message = `volcengine failed: ${typeof msg === 'string' ? msg : code}`.slice(0, 400);
    return { state: 'failed', error: new UpstreamError('UNAVAILABLE', message) };
  }
  return { state: 'finished', outcome: outcome(data) };
}

/** Whether a person is in the image; any other verdict means unknown. */
export function detectionOutcome({ result }: TaskData): Outcome {
  const { status, reason, subjects } = result;
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

/** The video of a task: its URL is valid for an hour. */
export function videoOutcome({ videoUrl, result }: TaskData): Outcome {
  const { url, vid } = result;
  const inside = typeof vid === 'object' && vid !== null && 'url' in vid ? vid.url : null;
  const address = [videoUrl, url, inside].find((one) => typeof one === 'string' && one !== '');
  if (typeof address !== 'string') throw unreadable(new Error('no video'), 'a finished task');
  return { files: [toRemoteFile(address)], texts: [] };
}

/** The avatar that was made. */
export function avatarOutcome({ result: { resource_id: id } }: TaskData): Outcome {
  if (typeof id !== 'string' || id === '') throw unreadable(new Error('no resource_id'), 'a finished task');
  return { files: [], texts: [], facts: { digitalId: id } };
}

function taskData(data: NonNullable<z.output<typeof envelope>['data']>): TaskData {
  const { status, video_url: videoUrl, resp_data: result } = data;
  return { status: status ?? '', videoUrl: videoUrl ?? null, result: readObject(result) };
}

function readObject(data: unknown): Readonly<Record<string, unknown>> {
  const value = typeof data === 'string' ? parsed(data) : data;
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
  throw errorOfGateway(answer, gatewayMessage(answer)) ?? unreadable(found.error, 'an answer');
}

/** The API gateway's error message. */
export function gatewayMessage({ json }: ExchangeAnswer): string {
  const { data } = gatewayError.safeParse(json);
  const error = data?.ResponseMetadata.Error;
  return [error?.Code, error?.Message].filter((words) => Boolean(words)).join(': ');
}
