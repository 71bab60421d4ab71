import { z } from 'zod';

import { UpstreamError } from '../../domain/failure.ts';
import type { JobStatus } from '../contract/provider.ts';
import { toRemoteFile, throwStatus, type ExchangeAnswer } from '../shared/exchange.ts';
import { parseDetail, createReader, optionalListOf, text } from '../shared/reader.ts';

/** The bodies of Higgsfield's API, parsed leniently. */

const { read, unreadable } = createReader('higgsfield');

const request = z.object({
  request_id: z.string().min(1),
  status: text,
  status_url: text,
  cancel_url: text,
  images: optionalListOf(z.object({ url: text })),
  error: text,
});

/** The fields of an image request that Kiln uses. */
export type SoulRequest = z.output<typeof request>;

const character = z.object({ id: z.string().min(1), status: text });

/** The fields of a character that Kiln uses. */
export type Character = z.output<typeof character>;

const upload = z.object({
  upload_url: z.url(),
  public_url: z.url(),
  /** Headers that the upload was signed with: without them it is refused. */
  upload_headers: z.record(z.string(), z.string()).nullish(),
});

/** The wire's field names and ours. */
const FIELDS: Readonly<Record<string, string>> = {
  aspect_ratio: 'aspectRatio',
  batch_size: 'count',
  custom_reference_id: 'characterId',
  input_images: 'images',
  image_url: 'images',
};

/** The purpose of a request: new work, existing work, or an upload URL. */
type RequestPurpose = 'start' | 'work' | 'file';

/** Throws Higgsfield's error; returns for a success. */
export function throwRefusal(answer: ExchangeAnswer, purpose: RequestPurpose): void {
  if (answer.status < 400) return;
  const { message: detail, field } = parseDetail(answer.json);
  const message = `higgsfield: ${detail || `HTTP ${answer.status}`}`.slice(0, 400);
  // Wrong credentials are a 401; a 403 means no credit.
  if (answer.status === 403) throw new UpstreamError('OUT_OF_CREDIT', message);
  if (answer.status === 422 && field !== null) {
    throw new UpstreamError('INVALID_INPUT', message, { field: FIELDS[field] ?? field });
  }
  throwStatus(answer, {
    message,
    isAboutWork: purpose === 'work',
    start: purpose === 'start' ? 'path' : undefined,
  });
}

/** The request of an answer. */
export function asRequest(answer: ExchangeAnswer, purpose: RequestPurpose): SoulRequest {
  throwRefusal(answer, purpose);
  return read(request, answer, 'a request');
}

/** The character of an answer. */
export function asCharacter(answer: ExchangeAnswer, purpose: RequestPurpose): Character {
  throwRefusal(answer, purpose);
  return read(character, answer, 'a character');
}

/** The upload URL of a file, and its URL afterwards. */
export function asUpload(answer: ExchangeAnswer): z.output<typeof upload> {
  throwRefusal(answer, 'file');
  return read(upload, answer, 'an upload URL');
}

/** The status of an image request. Unknown states mean running: a new state must never fail a paid task. */
export function requestStatus(found: SoulRequest): JobStatus {
  switch (found.status) {
    case 'queued':
      return { state: 'queued' };
    case 'completed':
      return { state: 'finished', outcome: { files: listFiles(found), texts: [] } };
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

/** The status of a character. */
export function characterStatus(found: Character): JobStatus {
  switch (found.status) {
    case 'not_ready':
    case 'queued':
      return { state: 'queued' };
    case 'completed':
      return { state: 'finished', outcome: { files: [], texts: [], facts: { characterId: found.id } } };
    case 'failed':
      return failed('UNAVAILABLE', 'higgsfield could not make a character of these images', true);
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

function listFiles(found: SoulRequest) {
  const files = (found.images ?? []).flatMap(({ url }) => (url ? [toRemoteFile(url)] : []));
  if (files.length === 0) throw unreadable(new Error('no image'), 'a completed request');
  return files;
}
