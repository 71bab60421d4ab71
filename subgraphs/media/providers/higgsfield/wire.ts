import { z } from 'zod';

import { UpstreamError } from '../../domain/failure.ts';
import type { JobStatus } from '../contract/provider.ts';
import { remoteFileOf, throwStatus, type ExchangeAnswer } from '../shared/exchange.ts';
import { detailOf } from '../shared/fastapi-detail.ts';
import { createReader, text } from '../shared/reader.ts';

/** The bodies of Higgsfield's API, read leniently. */

const { read, unreadable } = createReader('higgsfield');

const request = z.object({
  request_id: z.string().min(1),
  status: z.string(),
  status_url: text,
  cancel_url: text,
  images: z
    .array(z.object({ url: text }).nullable().catch(null))
    .nullish()
    .catch(null),
  error: text,
});

/** A request for pictures as far as Kiln reads it. */
export type SoulRequest = z.output<typeof request>;

const character = z.object({ id: z.string().min(1), status: text });

/** A character as far as Kiln reads it. */
export type Character = z.output<typeof character>;

const place = z.object({ upload_url: z.url(), public_url: z.url() });

/** How the wire's fields are called in Kiln's own inputs. */
const FIELDS: Readonly<Record<string, string>> = {
  aspect_ratio: 'aspectRatio',
  batch_size: 'count',
  custom_reference_id: 'characterId',
  input_images: 'images',
  image_url: 'images',
};

/** What was asked: new work, something about work that exists, or a place for a file. */
type Asking = 'start' | 'work' | 'file';

/** Throws what Higgsfield says is wrong; returns for a success. */
export function throwRefusal(answer: ExchangeAnswer, asking: Asking): void {
  if (answer.status < 400) return;
  const { message: said, field } = detailOf(answer.json);
  const message = `higgsfield: ${said || `HTTP ${answer.status}`}`.slice(0, 400);
  // Wrong credentials are a 401 there; whoever is known and refused has nothing left to spend.
  if (answer.status === 403) throw new UpstreamError('OUT_OF_CREDIT', message);
  if (answer.status === 422 && field !== null) {
    throw new UpstreamError('INVALID_INPUT', message, { field: FIELDS[field] ?? field });
  }
  throwStatus(answer, { message, isAboutWork: asking === 'work' });
}

/** The request of an answer. */
export function asRequest(answer: ExchangeAnswer, asking: Asking): SoulRequest {
  throwRefusal(answer, asking);
  return read(request, answer, 'a request');
}

/** The character of an answer. */
export function asCharacter(answer: ExchangeAnswer, asking: Asking): Character {
  throwRefusal(answer, asking);
  return read(character, answer, 'a character');
}

/** Where a file may be put, and where it will be found. */
export function asPlace(answer: ExchangeAnswer): z.output<typeof place> {
  throwRefusal(answer, 'file');
  return read(place, answer, 'a place for a file');
}

/** Where pictures stand. Words we do not know mean running: a new word must never fail a paid task. */
export function requestStatus(found: SoulRequest): JobStatus {
  switch (found.status) {
    case 'queued':
      return { state: 'queued', stage: 'queued upstream' };
    case 'completed':
      return { state: 'finished', outcome: { files: filesOf(found), texts: [] } };
    case 'nsfw':
      return failed(
        'MODERATION_REFUSED',
        'higgsfield refused the content and gave the credits back; change the prompt',
      );
    case 'failed':
      return failed(
        'UNAVAILABLE',
        `higgsfield failed: ${found.error || 'no reason given'}`.slice(0, 500),
        true,
      );
    case 'canceled':
    case 'cancelled':
      return failed('LOST', 'the request was cancelled at higgsfield');
    default:
      return { state: 'running', progress: null, stage: 'rendering' };
  }
}

/** Where a character stands. */
export function characterStatus(found: Character): JobStatus {
  switch (found.status) {
    case 'not_ready':
    case 'queued':
      return { state: 'queued', stage: 'queued upstream' };
    case 'completed':
      return { state: 'finished', outcome: { files: [], texts: [], facts: { characterId: found.id } } };
    case 'failed':
      return failed('UNAVAILABLE', 'higgsfield could not make a character of these pictures', true);
    default:
      return { state: 'running', progress: null, stage: 'learning the character' };
  }
}

function failed(
  code: 'MODERATION_REFUSED' | 'UNAVAILABLE' | 'LOST',
  message: string,
  retryable = false,
): JobStatus {
  return { state: 'failed', error: new UpstreamError(code, message, { retryable }) };
}

function filesOf(found: SoulRequest) {
  const files = (found.images ?? []).flatMap((image) => (image?.url ? [remoteFileOf(image.url)] : []));
  if (files.length === 0) throw unreadable(new Error('no image'), 'a completed request');
  return files;
}
