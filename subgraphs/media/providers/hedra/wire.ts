import { z } from 'zod';

import { parseJson, type Json } from '../../../../platform/json.ts';
import { UpstreamError, type UpstreamCode } from '../../domain/failure.ts';
import type { JobStatus, VoiceList } from '../contract/provider.ts';
import { toRemoteFile, throwStatus, type ExchangeAnswer } from '../shared/exchange.ts';
import { createReader, listOf, number, optionalListOf, percentOfShare, text } from '../shared/reader.ts';

/** The bodies of Hedra's API v3, parsed leniently. */

const reader = createReader('hedra');
export const { read } = reader;
const { unreadable } = reader;

const problem = z.object({
  code: text,
  message: text,
  retryable: z.boolean().nullish().catch(null),
  param: text,
  details: optionalListOf(z.object({ field: text, message: text, reason: text })),
  replaced_by: text,
});
type Problem = z.output<typeof problem>;

const status = z.object({
  job_id: z.string().min(1),
  status: z.string(),
  progress: number,
});
/** A job as its status shows it. */
export type StatusOfJob = z.output<typeof status>;

const job = status.extend({
  outputs: optionalListOf(
    z.object({ status: text, url: text, asset_id: text, error: problem.nullish().catch(null) }),
  ),
  error: problem.nullish().catch(null),
});
/** A job with its outputs. */
export type Job = z.output<typeof job>;

const voice = z.object({
  id: z.string().min(1),
  name: text,
  labels: z.object({ language: text }).nullish().catch(null),
});
const voices = z.object({ data: listOf(voice) });

/** The wire's field names and ours. */
const FIELDS: Readonly<Record<string, string>> = {
  start_image: 'image',
  voice_id: 'voiceId',
  aspect_ratio: 'aspectRatio',
};

/** The purpose of a request: new work, existing work, or something about files and voices. */
type RequestPurpose = 'start' | 'work' | 'file';

/** Throws Hedra's error; returns for a success. */
export function throwRefusal(answer: ExchangeAnswer, purpose: RequestPurpose): void {
  if (answer.status < 400) return;
  const found = z.object({ error: problem }).safeParse(answer.json).data?.error;
  const message = readMessage(found, `HTTP ${answer.status}`);
  if (found?.code === 'MODERATION_FAILED') throw new UpstreamError('MODERATION_REFUSED', message);
  // The same key of idempotency: the work may be under way.
  if (answer.status === 409) throw new UpstreamError('UNAVAILABLE', message, { startUnknown: true });
  if (found !== undefined && [400, 422].includes(answer.status)) throw inputError(found, message);
  throwStatus(answer, {
    message,
    isAboutWork: purpose === 'work',
    start: purpose === 'start' ? 'path' : undefined,
  });
}

function readMessage(found: Problem | null | undefined, otherwise: string): string {
  const [first] = found?.details ?? [];
  const reason = [found?.message, first?.message].filter((part) => part).join(': ') || otherwise;
  const successor = found?.replaced_by ? ` (replaced by ${found.replaced_by})` : '';
  return `hedra: ${reason}${successor}`.slice(0, 400);
}

function inputError({ param, details }: Problem, message: string): UpstreamError {
  const [first] = details ?? [];
  // An upload whose hour is over: the next attempt uploads it again.
  if (first?.reason === 'expired') return new UpstreamError('UNAVAILABLE', message);
  const names = (param ?? first?.field ?? '').split('.').filter((name) => /^[a-z_]+$/.test(name));
  const name = names.find((step) => step !== 'input' && step !== 'body');
  return new UpstreamError('INVALID_INPUT', message, {
    field: name === undefined ? undefined : (FIELDS[name] ?? name),
  });
}

/** The id of the job that a submission answered. */
export function submittedJob(answer: ExchangeAnswer): string {
  throwRefusal(answer, 'start');
  return read(status.pick({ job_id: true }), answer, 'a submission').job_id;
}

/** The status of a job. */
export function asStatus(answer: ExchangeAnswer): StatusOfJob {
  throwRefusal(answer, 'work');
  return read(status, answer, 'a status');
}

/** A job with its outputs. */
export function asJob(answer: ExchangeAnswer): Job {
  throwRefusal(answer, 'work');
  return read(job, answer, 'a job');
}

/** The status in an event of the stream; null for a line of the log, and for the mark of its end. */
export function statusEvent(data: string): StatusOfJob | null {
  return status.safeParse(parseJson(data)).data ?? null;
}

/** The first voice of a list, for text without a voice. */
export function firstVoice({ voices: [first] }: VoiceList): string {
  if (first !== undefined) return first.id;
  throw new UpstreamError('INVALID_INPUT', 'hedra has no voice for this account; name one', {
    field: 'voiceId',
  });
}

/** The voices of an answer; the vendor has none that are cloned. */
export function parseVoices(answer: ExchangeAnswer): VoiceList {
  throwRefusal(answer, 'file');
  const { data } = read(voices, answer, 'voices');
  return {
    voices: data.map(({ id, name, labels }) => ({
      id,
      name: name || id,
      language: labels?.language ?? null,
      cloned: false,
    })),
    answer: answer.json as Json,
  };
}

/** Whether the job has ended, well or not. */
export function hasEnded({ status: word }: StatusOfJob): boolean {
  return word === 'COMPLETED' || word === 'FAILED';
}

/** A job that has not ended. Unknown states mean running: a new state must never fail a paid task. */
export function readProgress({
  status: word,
  progress,
}: StatusOfJob): Extract<JobStatus, { state: 'queued' | 'running' }> {
  if (word === 'IN_QUEUE') return { state: 'queued' };
  return { state: 'running', progress: percentOfShare(progress), stage: 'rendering' };
}

/** The outcome of an ended job. */
export function readEnd(found: Job): JobStatus {
  if (!hasEnded(found)) return readProgress(found);
  if (found.status === 'FAILED') return { state: 'failed', error: toFailure(found.error) };
  const [output] = found.outputs ?? [];
  if (output?.status === 'FAILED') return { state: 'failed', error: toFailure(output.error) };
  if (output?.status === 'EXPIRED') {
    return { state: 'failed', error: new UpstreamError('LOST', 'hedra: the video has expired') };
  }
  if (!output?.url) throw unreadable(new Error('no address'), 'a completed job');
  return { state: 'finished', outcome: { files: [toRemoteFile(output.url)], texts: [] } };
}

/** The asset of an ended speech. Throws its error when it failed. */
export function readSpeech(found: Job): string {
  const [output] = found.outputs ?? [];
  if (found.status === 'FAILED' || output?.status === 'FAILED') throw toFailure(found.error ?? output?.error);
  if (!output?.asset_id) throw unreadable(new Error('no asset'), 'a completed speech');
  return output.asset_id;
}

/** The error of each code of a failed job, and whether a retry may succeed where the vendor does not say. */
export const ERROR_CODES: Readonly<Record<string, readonly [UpstreamCode, boolean]>> = {
  INVALID_ARGUMENT: ['INVALID_INPUT', false],
  FAILED_PRECONDITION: ['INVALID_INPUT', false],
  MODERATION_FAILED: ['MODERATION_REFUSED', false],
  INSUFFICIENT_BALANCE: ['OUT_OF_CREDIT', true],
  RESOURCE_EXHAUSTED: ['RATE_LIMITED', true],
  DEADLINE_EXCEEDED: ['TIMED_OUT', true],
  NOT_FOUND: ['LOST', true],
  GONE: ['LOST', true],
};

function toFailure(found: Problem | null | undefined): UpstreamError {
  const [code, isRetryable] = ERROR_CODES[found?.code ?? ''] ?? (['UNAVAILABLE', true] as const);
  const message = readMessage(found, 'it failed without a reason');
  // Another binding may have credit, whatever this one says of its own.
  const retryable = code === 'OUT_OF_CREDIT' || (found?.retryable ?? isRetryable);
  return new UpstreamError(code, message, { retryable });
}
