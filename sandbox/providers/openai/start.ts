import { createHash, randomUUID } from 'node:crypto';

import type { JsonObject } from '../../../platform/json.ts';
import type { Fault } from '../../faults/faults.ts';
import type { Answer } from '../../http/answer.ts';
import type { WireRequest } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import { storeInputs } from '../shared/perform.ts';
import type { UrlExpiry } from '../shared/results.ts';
import { toJobFault } from '../shared/stand-in.ts';
import { invalid, moderated, openaiError, refuse } from './errors.ts';

/** The context of this wire's handlers. */
export interface OpenaiContext {
  readonly runner: JobRunner;
  readonly journal: Journal;
  readonly expiry: UrlExpiry;
  /** Pending starts by Idempotency-Key. */
  readonly starting: Map<string, Promise<unknown>>;
}

/** A synchronous piece of work. */
export interface OpenaiStart {
  readonly operation: 'chat' | 'images' | 'edits' | 'speech' | 'videos';
  readonly request: WireRequest;
  readonly fault: Fault | null;
  readonly input: JsonObject;
  readonly images: readonly Uint8Array[];
}

const IDEMPOTENCY_HEADER = 'idempotency-key';

/** Runs a piece of work to its end; `answer` is the error when there is no result. */
export async function startAndWait(context: OpenaiContext, start: OpenaiStart): Promise<Started> {
  const accepted = await accept(context, start);
  if ('answer' in accepted) return accepted;
  return endOfWork(context, accepted.job, start.request.signal);
}

/** Waits for the end of accepted work; `answer` is the error when there is no result. */
export async function endOfWork({ runner }: OpenaiContext, job: Job, signal: AbortSignal): Promise<Started> {
  return toStarted(await runner.answered(job.id, signal), runner);
}

/** The job of a start, or the error. */
export type Started = { readonly job: Job } | { readonly answer: Answer };

/**
 * Accepts a piece of work. Idempotent by Idempotency-Key, also after a crash of the stand-in; the same key with another
 * body is refused.
 */
export async function accept(context: OpenaiContext, start: OpenaiStart): Promise<Started> {
  const { runner, starting } = context;
  const { request, fault } = start;
  if (fault?.fault === 'moderation') return { answer: moderated() };
  if (fault?.fault === 'queue-full') return { answer: refuse(429, 'Too many requests wait already.') };
  const reference = request.headers[IDEMPOTENCY_HEADER] ?? null;
  const fingerprint = makeFingerprint(start);
  // A concurrent request with the same key waits until the first is accepted or refused.
  await (reference === null ? undefined : starting.get(reference));
  const earlier = reference === null ? undefined : runner.list().find((job) => job.reference === reference);
  if (earlier !== undefined && earlier.input['fingerprint'] !== fingerprint) return { answer: keyConflict() };
  // The words of a chat are not kept after its end: it is answered anew, which gives the same and counts as no start.
  const isAnew = earlier?.operation === 'chat' && earlier.state === 'finished';
  if (earlier !== undefined && !isAnew) return { job: earlier };
  const submitting = submit(context, start, { reference: isAnew ? null : reference, fingerprint });
  if (reference !== null) starting.set(reference, submitting);
  try {
    const job = await submitting;
    return job === null ? { answer: refuse(429, 'Too many requests wait already.') } : { job };
  } finally {
    if (reference !== null) starting.delete(reference);
  }
}

async function submit(
  { runner, journal }: OpenaiContext,
  { operation, input, images, fault }: OpenaiStart,
  mark: { readonly reference: string | null; readonly fingerprint: string },
): Promise<Job | null> {
  const id =
    operation === 'videos' ? `video_${randomUUID().replaceAll('-', '')}` : `${operation}-${randomUUID()}`;
  const names = await storeInputs(journal, id, images);
  return runner.submit({
    id,
    operation,
    reference: mark.reference,
    input: { ...input, fingerprint: mark.fingerprint, pictures: names },
    fault: toJobFault(fault),
  });
}

/** Fingerprint of the parsed input, not of the bytes: a repeated form has another boundary. */
function makeFingerprint({ operation, input, images }: OpenaiStart): string {
  const hash = createHash('sha256').update(operation).update(JSON.stringify(input));
  for (const image of images) hash.update(image);
  return hash.digest('hex');
}

function toStarted(job: Job, runner: JobRunner): Started {
  if (job.state === 'finished') return { job };
  if (job.failure === MODERATED) return { answer: moderated() };
  if (runner.get(job.id) === null) return { answer: refuse(500, 'The request was lost.') };
  return { answer: toRefusal(job.failure ?? 'The request was cancelled.', job.operation) };
}

/** The error of work that failed: 400 where its request is to blame. */
export function toRefusal(failure: string, operation: string): Answer {
  if (!failure.startsWith(INVALID)) return refuse(500, failure);
  return invalid(failure.slice(INVALID.length), INVALID_PARAMETERS[operation] ?? 'image');
}

/** The failure of a job that was refused half-way for its content. */
export const MODERATED = 'moderated';
/** Prefix of the failure of a job whose text can't be spoken, or whose images can't be read. */
export const INVALID = 'invalid: ';
/** The parameter that has it, by the operation. */
const INVALID_PARAMETERS: Readonly<Record<string, string>> = {
  speech: 'input',
  chat: 'messages',
  edits: 'image',
};

function keyConflict(): Answer {
  return openaiError(409, {
    message: 'This Idempotency-Key was used with another request.',
    type: 'idempotency_error',
    code: 'idempotency_key_in_use',
  });
}
