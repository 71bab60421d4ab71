import { z } from 'zod';

import { UpstreamError, type UpstreamCode } from '../../domain/failure.ts';
import type { JobStatus } from '../contract/provider.ts';
import { remoteFileOf, throwStatus, type ExchangeAnswer } from '../shared/exchange.ts';
import { detailOf } from '../shared/fastapi-detail.ts';
import { createReader, text } from '../shared/reader.ts';

/** The bodies of Hedra's API, read leniently. */

const { read, unreadable } = createReader('hedra');

const generation = z.object({
  id: z.string().min(1),
  status: z.string(),
  progress: z.number().nullish().catch(null),
  url: text,
  download_url: text,
  error: z.object({ type: text, reason_code: text, message: text }).nullish().catch(null),
  error_message: text,
});

/** A generation as far as Kiln reads it. */
export type Generation = z.output<typeof generation>;

const asset = z.object({ id: z.string().min(1), upload_url: text });

/** How the wire's fields are called in Kiln's own inputs. */
const FIELDS: Readonly<Record<string, string>> = {
  start_keyframe_id: 'image',
  audio_id: 'audio',
  voice_id: 'voiceId',
  text_prompt: 'prompt',
  aspect_ratio: 'aspectRatio',
};

/** What was asked: new work, work that exists, or something about files and voices. */
type Asking = 'start' | 'work' | 'asset';

/** Throws what Hedra says is wrong; returns for a success. */
export function throwRefusal(answer: ExchangeAnswer, asking: Asking): void {
  if (answer.status < 400) return;
  const { message: said, field, type } = detailOf(answer.json);
  const message = `hedra: ${said || `HTTP ${answer.status}`}`.slice(0, 400);
  if (type === 'MODERATION_FAILED') {
    throw new UpstreamError('MODERATION_REFUSED', message);
  }
  if (answer.status === 422 && field !== null) {
    throw new UpstreamError('INVALID_INPUT', message, { field: FIELDS[field] ?? field });
  }
  throwStatus(answer, { message, isAboutWork: asking === 'work' });
}

/** The generation of an answer. */
export function asGeneration(answer: ExchangeAnswer, asking: Asking): Generation {
  throwRefusal(answer, asking);
  return read(generation, answer, 'a generation');
}

/** The asset of an answer: its id, and for videos the address that takes the file. */
export function asAsset(answer: ExchangeAnswer): z.output<typeof asset> {
  throwRefusal(answer, 'asset');
  return read(asset, answer, 'an asset');
}

/** The first voice of the account, for a text that names none. */
export function firstVoice(answer: ExchangeAnswer): string {
  throwRefusal(answer, 'asset');
  const [voice] = z.array(z.object({ id: z.string().min(1) })).safeParse(answer.json).data ?? [];
  if (voice !== undefined) return voice.id;
  throw new UpstreamError('INVALID_INPUT', 'hedra has no voice for this account; name one', {
    field: 'voiceId',
  });
}

/** Where the work stands. Words we do not know mean running: a new word must never fail a paid task. */
export function jobStatus(found: Generation): JobStatus {
  switch (found.status) {
    case 'queued':
      return { state: 'queued', stage: 'queued upstream' };
    case 'complete':
      return finished(found);
    case 'error':
      return { state: 'failed', error: failureOf(found) };
    default: {
      const { progress = null } = found;
      return {
        state: 'running',
        progress: progress === null ? null : Math.round(Math.min(1, Math.max(0, progress)) * 100),
        stage: found.status === 'finalizing' ? 'finalizing' : 'rendering',
      };
    }
  }
}

function finished(found: Generation): JobStatus {
  const url = found.download_url || found.url;
  if (!url) throw unreadable(new Error('no address'), 'a complete generation');
  return { state: 'finished', outcome: { files: [remoteFileOf(url)], texts: [] } };
}

/** What each kind of error means, and whether the same may succeed later or elsewhere. */
const CODES: Readonly<Record<string, readonly [UpstreamCode, boolean]>> = {
  INVALID_ARGUMENT: ['INVALID_INPUT', false],
  FAILED_PRECONDITION: ['INVALID_INPUT', false],
  INSUFFICIENT_BALANCE: ['OUT_OF_CREDIT', true],
  RESOURCE_EXHAUSTED: ['RATE_LIMITED', true],
  DEADLINE_EXCEEDED: ['TIMED_OUT', true],
  NOT_FOUND: ['LOST', true],
  GONE: ['LOST', true],
  MODERATION_FAILED: ['MODERATION_REFUSED', false],
};

function failureOf({ error, error_message: said }: Generation): UpstreamError {
  const reason = error?.message || said || '';
  const message = `hedra failed: ${reason || 'no reason given'}`.slice(0, 500);
  // Hedra's own look at what was made; another try makes something else.
  if (error?.reason_code === 'MODERATION_OUTPUT_TRANSIENT') {
    return new UpstreamError('UNAVAILABLE', message);
  }
  const isModerated = error?.reason_code?.startsWith('MODERATION_') === true || /\bmoderat/i.test(reason);
  const type = isModerated ? 'MODERATION_FAILED' : (error?.type ?? '');
  const [code, retryable] = CODES[type] ?? (['UNAVAILABLE', true] as const);
  return new UpstreamError(code, message, { retryable });
}
