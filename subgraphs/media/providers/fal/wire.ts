import { z } from 'zod';

import { parseJson } from '../../../../platform/json.ts';
import { modelGone, UpstreamError } from '../../domain/failure.ts';
import type { JobStatus } from '../contract/provider.ts';
import { toRemoteFile, readRetryAfter, throwStatus, type ExchangeAnswer } from '../shared/exchange.ts';
import { isAboutModel } from '../shared/model-words.ts';
import { percentOfLogs, createReader, listOf, optionalListOf, text } from '../shared/reader.ts';

/**
 * The bodies of fal's queue, parsed leniently. There is no state for failed work: COMPLETED is followed by a result
 * that may be an error. Errors of a model are a list (`detail: [{ loc, msg, type }]`); errors of the platform are a
 * sentence with an `error_type`, also in a header.
 */

const { read, unreadable } = createReader('fal');
export { read };

const submitted = z.object({ request_id: z.string().min(1), response_url: text });

const queued = z.object({
  status: z.string(),
  queue_position: z.int().nonnegative().nullish().catch(null),
  logs: optionalListOf(z.object({ message: text })),
});

/** The queue's status of a request. */
export type QueueStatus = z.output<typeof queued>;

const problem = z.object({
  loc: z.array(z.union([z.string(), z.number()])).catch([]),
  msg: text,
  type: text,
});
/** Some models answer an object of their own. */
const own = z
  .object({ error: text, message: text })
  .transform(({ error, message }) => [error, message].filter((words) => words).join(': '));
const failure = z.object({
  detail: z.union([z.string(), listOf(problem), own]).catch(''),
  error_type: text,
});

const file = z
  .object({ url: z.string().min(1) })
  .nullish()
  .catch(null);
const result = z.object({
  images: z.array(file).nullish().catch(null),
  image: file,
  video: file,
  videos: optionalListOf(file),
  has_nsfw_concepts: z.array(z.boolean().catch(false)).nullish().catch(null),
});

/** The wire's field names and ours. */
const FIELDS: Readonly<Record<string, string>> = {
  image_url: 'image',
  image_urls: 'images',
  tail_image_url: 'lastFrame',
  end_image_url: 'lastFrame',
  aspect_ratio: 'aspectRatio',
  image_size: 'aspectRatio',
  num_images: 'count',
  negative_prompt: 'negativePrompt',
};

/** The purpose of a request: new work, an upload, or something about existing work. */
type RequestPurpose = 'start' | 'file' | 'request';

/** Throws fal's error about the HTTP request itself; returns for a success. */
export function throwRefusal(answer: ExchangeAnswer, purpose: RequestPurpose): void {
  if (answer.status < 400) return;
  const { sentence, problems } = readFailure(answer);
  const message = `fal: ${sentence || `HTTP ${answer.status}`}`.slice(0, 400);
  if (/exhausted balance|insufficient (balance|credit|fund)/i.test(sentence)) {
    throw new UpstreamError('OUT_OF_CREDIT', 'fal: out of credit');
  }
  if (problems.length > 0 && answer.status < 500) throw errorOfProblems(answer, problems);
  throwStatus(answer, {
    message,
    isAboutWork: purpose === 'request',
    start: purpose === 'start' ? 'path' : undefined,
  });
}

type Problem = z.output<typeof problem>;

function readFailure({ json, headers }: ExchangeAnswer) {
  const { detail = '', error_type: type } = failure.safeParse(json).data ?? {};
  const problems: readonly Problem[] = typeof detail === 'string' ? [] : detail;
  const sentence = typeof detail === 'string' ? detail : problems.map(({ msg }) => msg ?? '').join('; ');
  return { sentence, problems, type: headers['x-fal-error-type'] ?? type ?? null };
}

const MODERATION = /content_policy|content_moderation|safety|nsfw/;
/** Error types of a model that are not the caller's fault. */
const ITS_OWN = /internal_server_error|generation_timeout|downstream_service|no_media_generated/;

function errorOfProblems(answer: ExchangeAnswer, problems: readonly Problem[]): UpstreamError {
  const message = `fal: ${problems.map(({ msg, type }) => msg || type || 'refused').join('; ')}`.slice(
    0,
    500,
  );
  const types = problems.map(({ type }) => type ?? '').join(' ');
  const name = problems[0]?.loc.filter((part) => part !== 'body')[0];
  const field = typeof name === 'string' ? (FIELDS[name] ?? name) : undefined;
  const named = field === undefined ? {} : { field };
  if (MODERATION.test(types)) {
    return new UpstreamError('MODERATION_REFUSED', message, { ...named });
  }
  if (answer.status >= 500 || ITS_OWN.test(types)) {
    const retryable = answer.headers['x-fal-retryable'] !== 'false';
    return new UpstreamError('UNAVAILABLE', message, { retryable, retryAfter: readRetryAfter(answer) });
  }
  return new UpstreamError('INVALID_INPUT', message, { ...named });
}

/** The id of a submitted request, and the path for its status. */
export function submittedRequest(answer: ExchangeAnswer): {
  readonly id: string;
  readonly url: string | null;
} {
  throwRefusal(answer, 'start');
  const parsed = read(submitted, answer, 'a submission');
  return { id: parsed.request_id, url: parsed.response_url ?? null };
}

/** The queue status of a request. */
export function queueStatus(answer: ExchangeAnswer): QueueStatus {
  return read(queued, answer, 'a status');
}

/** The status in an event of the stream; null for any other event. */
export function statusEvent(data: string): QueueStatus | null {
  return queued.safeParse(parseJson(data)).data ?? null;
}

/** The status of a request that is not completed. Unknown states mean running. */
export function waitingStatus(found: QueueStatus): JobStatus {
  if (found.status === 'IN_QUEUE') {
    const ahead = found.queue_position ?? null;
    // fal counts from 0.
    return { state: 'queued', ...(ahead !== null && { position: ahead + 1 }) };
  }
  return { state: 'running', progress: readProgress(found), stage: 'rendering' };
}

/** The progress in the newest log of a request. */
export function readProgress({ logs }: QueueStatus): number | null {
  return percentOfLogs(logs?.map(({ message }) => message ?? '').join('\n') ?? '');
}

/** The result of a completed request. Throws when only the HTTP request failed. */
export function completedStatus(answer: ExchangeAnswer): JobStatus {
  if (answer.status < 400) return finishedStatus(answer);
  const { sentence, problems, type } = readFailure(answer);
  if (/still in progress/i.test(sentence)) return { state: 'running', progress: null, stage: 'rendering' };
  if (type === 'client_cancelled' || answer.status === 499) {
    const error = new UpstreamError('LOST', 'the request was cancelled at fal', { retryable: false });
    return { state: 'failed', error };
  }
  if (answer.status === 504 && answer.headers['x-fal-request-timeout-type'] === 'user') {
    const message = 'fal did not finish within the time that was asked for';
    return { state: 'failed', error: new UpstreamError('TIMED_OUT', message, { retryable: false }) };
  }
  if (isAboutModel(sentence)) return { state: 'failed', error: modelGone(`fal: ${sentence}`.slice(0, 500)) };
  if (problems.length > 0) return { state: 'failed', error: errorOfProblems(answer, problems) };
  if (type !== null && answer.status >= 500) {
    const message = `fal failed: ${sentence || type}`.slice(0, 500);
    return { state: 'failed', error: new UpstreamError('UNAVAILABLE', message) };
  }
  if (type === 'bad_request' || answer.status === 400 || answer.status === 422) {
    const message = `fal: ${sentence || 'refused the input'}`.slice(0, 500);
    return { state: 'failed', error: new UpstreamError('INVALID_INPUT', message) };
  }
  throwRefusal(answer, 'request');
  throw unreadable(new Error(`HTTP ${answer.status}`), 'a result');
}

function finishedStatus(answer: ExchangeAnswer): JobStatus {
  const parsed = read(result, answer, 'a result');
  const { images, image, video, videos, has_nsfw_concepts: flags } = parsed;
  // The safety checker blackens flagged images: such an image is no result.
  const shown = images?.filter((_image, index) => flags?.[index] !== true) ?? [];
  if (images && images.length > 0 && shown.length === 0) {
    const message = 'fal withheld the images: they were flagged as unsafe';
    const error = new UpstreamError('MODERATION_REFUSED', message, { field: 'prompt' });
    return { state: 'failed', error };
  }
  const addresses = [...shown, image, video, ...(videos ?? [])].flatMap((one) => (one ? [one.url] : []));
  // One that stands at two places is one result.
  const files = [...new Set(addresses)].map(toRemoteFile);
  if (files.length === 0) throw unreadable(new Error('no file'), 'a result');
  return { state: 'finished', outcome: { files, texts: [] } };
}

/** The result of a cancel request. */
export function cancelVerdict(answer: ExchangeAnswer): 'cancelled' | 'too-late' {
  if (answer.status < 400) return 'cancelled';
  if (answer.status === 400 || answer.status === 404) return 'too-late';
  throwRefusal(answer, 'request');
  return 'too-late';
}
