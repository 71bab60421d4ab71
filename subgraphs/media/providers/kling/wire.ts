import { z } from 'zod';

import { modelGone, refusedCredentials, UpstreamError } from '../../domain/failure.ts';
import type { JobStatus, RemoteFile } from '../contract/provider.ts';
import { readRetryAfter, throwStatus, type ExchangeAnswer } from '../shared/exchange.ts';
import { isAboutModel } from '../shared/model-words.ts';
import { createReader, id, listOf, text } from '../shared/reader.ts';

/**
 * The bodies of the Kling wire, parsed leniently, and its result codes: an HTTP status, and a more precise `code` in
 * the body. Aggregators of the new-api family answer on the same paths in another format (`code: "success"`, other
 * state names, the URL elsewhere), which is parsed too.
 */

const { read, unreadable } = createReader('kling');

const task = z.object({
  task_id: id,
  task_status: text,
  task_status_msg: text,
  task_info: z.object({ external_task_id: text }).nullish().catch(null),
  task_result: z
    .object({ videos: listOf(z.object({ url: text })) })
    .nullish()
    .catch(null),
  // An aggregator's fields for the same values.
  status: text,
  url: text,
  result_url: text,
  fail_reason: text,
});

/** The fields of a Kling task that Kiln uses. */
export type KlingTask = z.output<typeof task>;

const envelope = z.object({
  code: z.union([z.number(), z.string()]).nullish().catch(null),
  message: text,
  error: z.object({ message: text }).nullish().catch(null),
});

type RequestPurpose = 'start' | 'status' | 'list';

/** Throws the vendor's error; returns for a success. */
function throwRefusal(answer: ExchangeAnswer, purpose: RequestPurpose): void {
  const { code = null, message: own, error } = envelope.safeParse(answer.json).data ?? {};
  const message = `kling: ${own || error?.message || `HTTP ${answer.status}`}`.slice(0, 400);
  if (typeof code === 'number' && code !== 0) throw errorOfCode(code, { message, answer, purpose });
  if (code === 'task_not_exist' && purpose === 'status') throw lost();
  throwStatus(answer, {
    message,
    isAboutWork: purpose === 'status',
    start: purpose === 'start' ? 'body' : undefined,
  });
}

interface CodeContext {
  readonly message: string;
  readonly answer: ExchangeAnswer;
  readonly purpose: RequestPurpose;
}

function errorOfCode(code: number, { message, answer, purpose }: CodeContext): UpstreamError {
  const described = `${message} (${code})`;
  if (purpose === 'start' && isOfModel(code, message)) return modelGone(described);
  switch (code) {
    case 1000:
    case 1001:
    case 1002:
    case 1003:
    case 1004:
    case 1103:
    case 1304:
      return refusedCredentials(`kling refused our credentials (${code})`);
    case 1101:
    case 1102:
      return new UpstreamError('OUT_OF_CREDIT', 'kling: out of credit');
    case 1200:
    case 1201:
    case 1202:
      // A status request has only the id: only the id can be wrong.
      if (purpose === 'status') return lost();
      return new UpstreamError('INVALID_INPUT', described);
    case 1203:
      if (purpose === 'status') return lost();
      return new UpstreamError('UNAVAILABLE', described);
    case 1300:
    case 1301:
      return new UpstreamError('MODERATION_REFUSED', `${described}; change the content`, { field: 'prompt' });
    case 1302:
    case 1303:
      return new UpstreamError('RATE_LIMITED', described, { retryAfter: readRetryAfter(answer) });
    case 1100:
      return new UpstreamError('UNAVAILABLE', described);
    default:
      // 5000, 5001, 5002 and unknown codes: the work may have started.
      return new UpstreamError('UNAVAILABLE', described, {
        startUnknown: true,
        retryAfter: readRetryAfter(answer),
      });
  }
}

/** 1203: the method or the model is not there; 1103: it is not for this account. */
function isOfModel(code: number, message: string): boolean {
  if (code === 1203 || code === 1103) return true;
  return code === 1201 && (isAboutModel(message) || /model(_name)? .{0,80}\binvalid/i.test(message));
}

function lost(): UpstreamError {
  return new UpstreamError('LOST', 'kling does not know this task any more');
}

/** The task id of a submission. */
export function submittedId(answer: ExchangeAnswer): string {
  throwRefusal(answer, 'start');
  const found =
    z.object({ data: z.object({ task_id: id }) }).safeParse(answer.json).data?.data.task_id ??
    // An aggregator's answer has it at the top level.
    z.object({ task_id: id }).safeParse(answer.json).data?.task_id;
  if (found !== null && found !== undefined) return found;
  throw unreadable(new Error('no task_id'), 'a submission');
}

/** The task of a status answer. */
export function asTask(answer: ExchangeAnswer): KlingTask {
  throwRefusal(answer, 'status');
  const body = z.object({ data: z.unknown() }).safeParse(answer.json).data?.data ?? answer.json;
  const parsed = read(task, { json: body }, 'a task');
  const { task_status: state, status } = parsed;
  if (!state && !status) throw unreadable(new Error('no state'), 'a task');
  return parsed;
}

/** The tasks of one page of a listing, null in the place of one that can't be read; null when the answer is no listing. */
export function listedTasks(answer: ExchangeAnswer): readonly (KlingTask | null)[] | null {
  if (answer.status === 404 || answer.status === 405) return null;
  throwRefusal(answer, 'list');
  return z.object({ data: z.array(task.nullable().catch(null)) }).safeParse(answer.json).data?.data ?? null;
}

/** The status of the work. Unknown states mean running: a new state must never fail a paid task. */
export function jobStatus(found: KlingTask): JobStatus {
  switch ((found.task_status || found.status || '').toLowerCase()) {
    case 'submitted':
    case 'queued':
    case 'not_start':
      return { state: 'queued' };
    case 'succeed':
    case 'succeeded':
    case 'success':
    case 'completed':
      return { state: 'finished', outcome: { files: listVideos(found), texts: [] } };
    case 'failed':
    case 'failure':
      return { state: 'failed', error: toFailure(found.task_status_msg || found.fail_reason || '') };
    default:
      return { state: 'running', progress: null, stage: 'rendering' };
  }
}

function listVideos(found: KlingTask): RemoteFile[] {
  const own = found.task_result?.videos.flatMap(({ url }) => (url ? [{ url }] : [])) ?? [];
  const url = found.result_url || found.url;
  const files = own.length === 0 && url ? [{ url }] : own;
  if (files.length === 0) throw unreadable(new Error('no video'), 'a finished task');
  return files;
}

function toFailure(reason: string): UpstreamError {
  const message = `kling failed: ${reason || 'no reason given'}`.slice(0, 500);
  if (/moderat|sensitive|risk control|content (security|polic)|violat|违规|风控|敏感/i.test(reason)) {
    return new UpstreamError('MODERATION_REFUSED', message);
  }
  // The same input would fail, and cost, again.
  if (/invalid|unsupported|not supported/i.test(reason)) {
    return new UpstreamError('INVALID_INPUT', message);
  }
  return new UpstreamError('UNAVAILABLE', message);
}
