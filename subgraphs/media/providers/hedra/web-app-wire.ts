import { z } from 'zod';

import type { Json } from '../../../../platform/json.ts';
import { modelGone, UpstreamError } from '../../domain/failure.ts';
import type { JobStatus, VoiceList } from '../contract/provider.ts';
import { toRemoteFile, throwStatus, type ExchangeAnswer } from '../shared/exchange.ts';
import { parseDetail, createReader, listOf, number, percentOfShare, text } from '../shared/reader.ts';
import { ERROR_CODES } from './wire.ts';

/** The bodies of Hedra's older API, parsed leniently. */

const { read, unreadable } = createReader('hedra');

const generation = z.object({
  id: z.string().min(1),
  status: text,
  progress: number,
  url: text,
  download_url: text,
  error: z.object({ type: text, reason_code: text, message: text }).nullish().catch(null),
  error_message: text,
});

/** The fields of a generation that Kiln uses. */
export type Generation = z.output<typeof generation>;

const asset = z.object({ id: z.string().min(1), upload_url: text });

/** The wire's field names and ours. */
const FIELDS: Readonly<Record<string, string>> = {
  start_keyframe_id: 'image',
  audio_id: 'audio',
  voice_id: 'voiceId',
  text_prompt: 'prompt',
  aspect_ratio: 'aspectRatio',
};

/** The purpose of a request: new work, existing work, or something about files and voices. */
type RequestPurpose = 'start' | 'work' | 'asset';

/** Throws Hedra's error; returns for a success. */
export function throwRefusal(answer: ExchangeAnswer, purpose: RequestPurpose): void {
  if (answer.status < 400) return;
  const { message: detail, field, type } = parseDetail(answer.json);
  const message = `hedra: ${detail || `HTTP ${answer.status}`}`.slice(0, 400);
  if (type === 'MODERATION_FAILED') {
    throw new UpstreamError('MODERATION_REFUSED', message);
  }
  if (purpose === 'start' && (field === 'model_slug' || field === 'ai_model_id')) throw modelGone(message);
  if (answer.status === 422 && field !== null) {
    throw new UpstreamError('INVALID_INPUT', message, { field: FIELDS[field] ?? field });
  }
  throwStatus(answer, {
    message,
    isAboutWork: purpose === 'work',
    start: purpose === 'start' ? 'body' : undefined,
  });
}

/** The generation of an answer. */
export function asGeneration(answer: ExchangeAnswer, purpose: RequestPurpose): Generation {
  throwRefusal(answer, purpose);
  return read(generation, answer, 'a generation');
}

/** The asset of an answer: its id, and for videos the upload URL. */
export function asAsset(answer: ExchangeAnswer): z.output<typeof asset> {
  throwRefusal(answer, 'asset');
  return read(asset, answer, 'an asset');
}

const voices = listOf(z.object({ id: z.string().min(1), name: text }));

/** The voices of an answer. */
export function parseVoices(answer: ExchangeAnswer): VoiceList {
  throwRefusal(answer, 'asset');
  const found = read(voices, answer, 'voices');
  return {
    voices: found.map(({ id, name }) => ({ id, name: name || id, language: null, cloned: false })),
    answer: answer.json as Json,
  };
}

/** The status of the work. Unknown states mean running: a new state must never fail a paid task. */
export function jobStatus(found: Generation): JobStatus {
  switch (found.status) {
    case 'queued':
      return { state: 'queued' };
    case 'complete':
      return finished(found);
    case 'error':
      return { state: 'failed', error: toFailure(found) };
    default:
      return {
        state: 'running',
        progress: percentOfShare(found.progress),
        stage: found.status === 'finalizing' ? 'finalizing' : 'rendering',
      };
  }
}

function finished(found: Generation): JobStatus {
  const url = found.download_url || found.url;
  if (!url) throw unreadable(new Error('no address'), 'a complete generation');
  return { state: 'finished', outcome: { files: [toRemoteFile(url)], texts: [] } };
}

function toFailure({ error, error_message: detail }: Generation): UpstreamError {
  const reason = error?.message || detail || '';
  const message = `hedra failed: ${reason || 'no reason given'}`.slice(0, 500);
  // Hedra's moderation of the output; a retry makes another one.
  if (error?.reason_code === 'MODERATION_OUTPUT_TRANSIENT') {
    return new UpstreamError('UNAVAILABLE', message);
  }
  const isModerated = error?.reason_code?.startsWith('MODERATION_') === true || /\bmoderat/i.test(reason);
  const type = isModerated ? 'MODERATION_FAILED' : (error?.type ?? '');
  const [code, retryable] = ERROR_CODES[type] ?? (['UNAVAILABLE', true] as const);
  return new UpstreamError(code, message, { retryable });
}
