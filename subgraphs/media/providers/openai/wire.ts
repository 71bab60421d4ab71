import { z } from 'zod';

import { modelGone, refusedCredentials, UpstreamError } from '../../domain/failure.ts';
import type { Outcome, RemoteFile } from '../contract/provider.ts';
import { errorOfStatus, readRetryAfter, type ExchangeAnswer } from '../shared/exchange.ts';
import { isAboutModel } from '../shared/model-words.ts';
import { createReader, id, listOf, number, requiredId, text } from '../shared/reader.ts';

/** The bodies of the OpenAI wire but for chats (chat-wire.ts), parsed leniently: only the fields that Kiln uses. */

const { read, unreadable } = createReader('openai');
export { read, unreadable };

const failure = z.object({ error: z.object({ message: text, type: text, param: text, code: id }) });

const images = z.object({
  data: listOf(z.object({ b64_json: text, url: text })),
  output_format: text,
  usage: z
    .object({
      input_tokens: number,
      output_tokens: number,
    })
    .nullish()
    .catch(null),
});

const video = z.object({
  id: requiredId,
  status: text,
  progress: number,
  error: z
    .union([
      z.object({ code: id, message: text }),
      z.string().transform((message) => ({ code: null, message })),
    ])
    .nullish()
    .catch(null),
});

/** A video of the wire. */
export type Video = z.output<typeof video>;

/** The wire's parameter names and ours. */
const FIELDS: Readonly<Record<string, string>> = {
  n: 'count',
  size: 'resolution',
  'image[]': 'images',
  image: 'images',
  input: 'text',
  voice: 'voiceId',
  response_format: 'format',
  instructions: 'emotion',
  seconds: 'duration',
  input_reference: 'image',
};

/** Codes and types that mean refused content. */
const MODERATION = /moderation|content_policy|content_filter|safety|sensitive/;

/** Whether a body is the vendor's error. */
export function isFailure(json: unknown): boolean {
  return failure.safeParse(json).success;
}

/** What an error says. Some servers have a text for `error`, or its fields in the body itself. */
export function readDetail(json: unknown): Partial<z.output<typeof failure>['error']> {
  const bare = z
    .union([
      failure.transform(({ error }) => error),
      z.object({ error: z.string() }).transform(({ error: message }) => ({ message })),
      failure.shape.error,
    ])
    .safeParse(json);
  return bare.data ?? {};
}

/** Codes and types that mean that the model has ended, or is not for this key; LiteLLM's end in `_model_access_denied`. */
const MODEL_GONE =
  /model_not_found|model_not_available|model_decommissioned|model_access_denied|model_deprecated/;

/**
 * Throws the vendor's error about a start; returns for a success. Model and key are the binding's, so that a refusal of these is
 * never the caller's fault. `findField` gives our name of a parameter.
 */
export function throwStartRefusal(
  answer: ExchangeAnswer,
  findField: (param: string) => string = (param) => FIELDS[param] ?? param,
): void {
  if (answer.status < 400) return;
  const { message = '', code, type, param } = readDetail(answer.json);
  const said = `openai: ${message || `HTTP ${answer.status}`}`.slice(0, 500);
  if (MODEL_GONE.test(`${code ?? ''} ${type ?? ''}`)) throw modelGone(said);
  // LiteLLM without a database can look no other key up.
  if (type === 'no_db_connection' || message === 'No connected db.') {
    throw refusedCredentials('the provider refused our credentials');
  }
  const isOfModel = answer.status < 429 && (param === 'model' || isAboutModel(message ?? ''));
  if (isOfModel) throw modelGone(said);
  // A wrong address, a proxy's page, or a part of the API that this server does not have.
  if (answer.status === 404 || answer.status === 410) throw new UpstreamError('UNAVAILABLE', said);
  throwRefusal(answer, findField);
}

/** Throws the vendor's error; returns for a success. `findField` gives our name of a parameter. */
export function throwRefusal(
  answer: ExchangeAnswer,
  findField: (param: string) => string = (param) => FIELDS[param] ?? param,
): void {
  if (answer.status < 400) return;
  const detail = readDetail(answer.json);
  const message = `openai: ${detail.message ?? `HTTP ${answer.status}`}`.slice(0, 500);
  const code = `${detail.code ?? ''} ${detail.type ?? ''}`;
  if (MODERATION.test(code)) {
    throw new UpstreamError('MODERATION_REFUSED', message, { field: 'prompt' });
  }
  if (/insufficient_quota|billing|credit_balance/.test(code)) {
    throw new UpstreamError('OUT_OF_CREDIT', 'openai: out of credit');
  }
  // The vendor's own code for overload (a bare 503 may come from a proxy).
  if (code.includes('server_is_overloaded')) {
    throw new UpstreamError('UNAVAILABLE', message, { retryAfter: readRetryAfter(answer) });
  }
  if (answer.status === 400 && detail.param) {
    const field = findField(detail.param);
    throw new UpstreamError('INVALID_INPUT', message, { field, retryAfter: readRetryAfter(answer) });
  }
  throw errorOfStatus(answer, message) ?? new UpstreamError('UNAVAILABLE', message);
}

/** The images of an answer, inline or by URLs at the vendor, and what they took as far as it says. */
export function imageOutcome(answer: ExchangeAnswer): Outcome {
  const { data, output_format: format, usage: counted } = read(images, answer);
  const contentType = `image/${format ?? 'png'}`;
  const files = data.flatMap(({ b64_json: inline, url }): RemoteFile[] => {
    if (inline) return [{ content: Buffer.from(inline, 'base64'), contentType }];
    return url ? [{ url }] : [];
  });
  if (files.length === 0) throw unreadable(new Error('no image'));
  const units = {
    pictures: files.length,
    ...(counted?.input_tokens != null && { inputTokens: counted.input_tokens }),
    ...(counted?.output_tokens != null && { outputTokens: counted.output_tokens }),
  };
  return { files, texts: [], units };
}

/** The video of an answer. */
export function parseVideo(answer: ExchangeAnswer): Video {
  return read(video, answer);
}

/** Why a video failed. */
export function videoFailure({ error }: Video): UpstreamError {
  const message = `openai: ${error?.message ?? 'the video failed'}`.slice(0, 500);
  return MODERATION.test(error?.code ?? '')
    ? new UpstreamError('MODERATION_REFUSED', message, { field: 'prompt' })
    : new UpstreamError('UNAVAILABLE', message);
}
