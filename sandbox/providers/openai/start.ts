import { createHash, randomUUID } from 'node:crypto';

import type { JsonObject } from '../../../platform/json.ts';
import type { Fault } from '../../faults/faults.ts';
import type { Answer } from '../../http/answer.ts';
import type { WireRequest } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import { jobFaultOf } from '../shared/fault-injection.ts';
import { storeInputs } from '../shared/perform.ts';
import type { UrlExpiry } from '../shared/url-expiry.ts';
import { invalid, moderated, openaiError, refuse } from './errors.ts';

/** What every handler of this wire works with. */
export interface OpenaiContext {
  readonly runner: JobRunner;
  readonly journal: Journal;
  readonly expiry: UrlExpiry;
  /** Starts whose job is not accepted yet, by their Idempotency-Key. */
  readonly starting: Map<string, Promise<unknown>>;
}

/** Work to be done before it is answered. */
export interface OpenaiStart {
  readonly operation: 'chat' | 'images' | 'edits' | 'speech' | 'videos';
  readonly request: WireRequest;
  readonly fault: Fault | null;
  readonly input: JsonObject;
  readonly pictures: readonly Uint8Array[];
}

const IDEMPOTENCY_HEADER = 'idempotency-key';

/** Does a piece of work and waits for its end; the answer is what the wire says when there is no result. */
export async function startAndWait(context: OpenaiContext, start: OpenaiStart): Promise<Started> {
  const accepted = await accept(context, start);
  if ('answer' in accepted) return accepted;
  const { runner } = context;
  return endOf(await runner.ended(accepted.job.id, start.request.signal), runner);
}

/** The job of a start, or why there is none. */
export type Started = { readonly job: Job } | { readonly answer: Answer };

/**
 * Accepts a piece of work. The same Idempotency-Key again gives the same work, also after a crash of the stand-in;
 * with another body it is refused.
 */
export async function accept(context: OpenaiContext, start: OpenaiStart): Promise<Started> {
  const { runner, starting } = context;
  const { request, fault } = start;
  if (fault?.fault === 'moderation') return { answer: moderated() };
  if (fault?.fault === 'queue-full') return { answer: refuse(429, 'Too many requests wait already.') };
  const reference = request.headers[IDEMPOTENCY_HEADER] ?? null;
  const fingerprint = fingerprintOf(start);
  // Two requests with one key at the same moment: the second waits until the first is accepted or refused.
  await (reference === null ? undefined : starting.get(reference));
  const earlier = reference === null ? undefined : runner.list().find((job) => job.reference === reference);
  if (earlier !== undefined) {
    const isSame = earlier.input['fingerprint'] === fingerprint;
    return isSame ? { job: earlier } : { answer: keyConflict() };
  }
  const submitting = submit(context, start, { reference, fingerprint });
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
  { operation, input, pictures, fault }: OpenaiStart,
  mark: { readonly reference: string | null; readonly fingerprint: string },
): Promise<Job | null> {
  const id =
    operation === 'videos' ? `video_${randomUUID().replaceAll('-', '')}` : `${operation}-${randomUUID()}`;
  const names = await storeInputs(journal, id, pictures);
  return runner.submit({
    id,
    operation,
    reference: mark.reference,
    input: { ...input, fingerprint: mark.fingerprint, pictures: names },
    fault: jobFaultOf(fault),
  });
}

/** Of what is asked, not of the bytes that ask it: a repeated form has another boundary. */
function fingerprintOf({ operation, input, pictures }: OpenaiStart): string {
  const hash = createHash('sha256').update(operation).update(JSON.stringify(input));
  for (const picture of pictures) hash.update(picture);
  return hash.digest('hex');
}

function endOf(job: Job, runner: JobRunner): Started {
  if (job.state === 'finished') return { job };
  if (job.failure === MODERATED) return { answer: moderated() };
  if (job.failure?.startsWith(UNSPEAKABLE)) {
    return { answer: invalid(job.failure.slice(UNSPEAKABLE.length), 'input') };
  }
  const message = job.failure ?? 'The request was cancelled.';
  return { answer: refuse(500, runner.get(job.id) === null ? 'The request was lost.' : message) };
}

/** The words of a job that was refused half-way for its content. */
export const MODERATED = 'moderated';
/** How the failure of a job begins whose text cannot be spoken. */
export const UNSPEAKABLE = 'unspeakable: ';

function keyConflict(): Answer {
  return openaiError(409, {
    message: 'This Idempotency-Key was used with another request.',
    type: 'idempotency_error',
    code: 'idempotency_key_in_use',
  });
}
