import { z } from 'zod';

import { modelGone, UpstreamError } from '../../domain/failure.ts';
import type { JobStatus, RemoteFile } from '../contract/provider.ts';
import { toRemoteFile, throwStatus, type ExchangeAnswer } from '../shared/exchange.ts';
import { percentOfLogs, createReader, text } from '../shared/reader.ts';

/** The bodies of Replicate's API, parsed leniently. */

const { read, unreadable } = createReader('replicate');
export { read };

const prediction = z.object({
  id: z.string().min(1),
  status: text,
  output: z.unknown().optional(),
  error: z.unknown().optional(),
  logs: text,
  data_removed: z.boolean().nullish().catch(null),
});

/** The fields of a prediction that Kiln uses. */
export type Prediction = z.output<typeof prediction>;

const problem = z.object({
  title: text,
  detail: text,
  invalid_fields: z
    .array(z.object({ field: text, description: text }))
    .nullish()
    .catch(null),
});

/** The models' field names and ours. */
const FIELDS: Readonly<Record<string, string>> = {
  num_outputs: 'count',
  aspect_ratio: 'aspectRatio',
  negative_prompt: 'negativePrompt',
  input_image: 'images',
  image_input: 'images',
  start_image: 'image',
  end_image: 'lastFrame',
  last_frame_image: 'lastFrame',
};

/** The purpose of a request: a start, an existing prediction, or the account. */
type RequestPurpose = 'start' | 'prediction' | 'account';

/** Throws Replicate's error; returns for a success. */
export function throwRefusal(answer: ExchangeAnswer, purpose: RequestPurpose): void {
  if (answer.status < 400) return;
  const { title, detail, invalid_fields: invalid } = problem.safeParse(answer.json).data ?? {};
  const message = `replicate: ${detail || title || `HTTP ${answer.status}`}`.slice(0, 400);
  // A version that is not there, or not for this token.
  if (purpose === 'start' && /^invalid version/i.test(title ?? '')) throw modelGone(message);
  if (purpose === 'start' && answer.status === 422) {
    const name = invalid?.[0]?.field ?? /input\.(\w+)/.exec(detail ?? '')?.[1];
    const last = name?.split('.').at(-1);
    const field = last === undefined ? {} : { field: FIELDS[last] ?? last };
    throw new UpstreamError('INVALID_INPUT', message, { ...field });
  }
  throwStatus(answer, {
    message,
    isAboutWork: purpose === 'prediction',
    start: purpose === 'start' ? 'path' : undefined,
  });
}

/** The prediction of an answer. */
export function asPrediction(answer: ExchangeAnswer, purpose: RequestPurpose): Prediction {
  throwRefusal(answer, purpose);
  return read(prediction, answer, 'a prediction');
}

/** The status of the work. Unknown states mean running: a new state must never fail a paid task. */
export function jobStatus(found: Prediction): JobStatus {
  switch (found.status) {
    case 'starting':
      return { state: 'queued', stage: 'starting upstream' };
    case 'succeeded':
      return succeeded(found);
    case 'failed':
      return { state: 'failed', error: toFailure(found.error) };
    case 'canceled': {
      const error = new UpstreamError('LOST', 'the prediction was cancelled at replicate', {
        retryable: false,
      });
      return { state: 'failed', error };
    }
    case 'aborted': {
      const message = 'replicate did not start within the time that it had';
      return { state: 'failed', error: new UpstreamError('UNAVAILABLE', message) };
    }
    default:
      return { state: 'running', progress: percentOfLogs(found.logs ?? ''), stage: 'rendering' };
  }
}

function succeeded(found: Prediction): JobStatus {
  if (found.data_removed === true) {
    // Outputs are deleted an hour after the end.
    const message = 'replicate has deleted the output of this prediction';
    return { state: 'failed', error: new UpstreamError('LOST', message) };
  }
  const files = listFiles(found.output);
  if (files.length === 0) throw unreadable(new Error('no file'), 'a finished prediction');
  return { state: 'finished', outcome: { files, texts: [] } };
}

/** A model returns one URL or a list of them. */
function listFiles(output: unknown): RemoteFile[] {
  const all: readonly unknown[] = Array.isArray(output) ? output : [output];
  return all.flatMap((one) =>
    typeof one === 'string' && /^(https?:|data:)/.test(one) ? [toRemoteFile(one)] : [],
  );
}

function toFailure(error: unknown): UpstreamError {
  const reason = typeof error === 'string' ? error : error == null ? '' : JSON.stringify(error);
  const message = `replicate failed: ${reason || 'no reason given'}`.slice(0, 500);
  if (/nsfw|sensitive|moderat|safety|content policy|E005/i.test(reason)) {
    return new UpstreamError('MODERATION_REFUSED', message);
  }
  return new UpstreamError('UNAVAILABLE', message);
}
