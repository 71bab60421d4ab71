import { z } from 'zod';

import type { ChatToolCall } from '../../domain/chat-options.ts';
import { modelGone, refusedCredentials, UpstreamError } from '../../domain/failure.ts';
import type { ChatOutcome, RemoteFile, CallContext } from '../contract/provider.ts';
import { errorOfStatus, readRetryAfter, type ExchangeAnswer, buildUrl } from '../shared/exchange.ts';
import { isAboutModel, isMissingModel } from '../shared/model-words.ts';
import { createReader, listOf, number, optionalListOf, text } from '../shared/reader.ts';

/** The bodies of the Gemini API, parsed leniently: only the fields that Kiln uses. */

/** The reader of gemini's answers. */
export const { read, unreadable } = createReader('gemini');

const failure = z.object({
  error: z.object({
    message: text,
    status: text,
    details: z
      .array(z.looseObject({ reason: text, retryDelay: text }))
      .nullish()
      .catch(null),
  }),
});

const part = z.object({
  text,
  /** A thought of the model, not part of its answer. */
  thought: z.boolean().nullish().catch(null),
  inlineData: z.object({ mimeType: z.string(), data: z.string() }).nullish().catch(null),
  functionCall: z.object({ id: text, name: z.string(), args: z.json().nullish() }).nullish().catch(null),
});

const generated = z.object({
  candidates: z
    .array(
      z.object({
        content: z.object({ parts: listOf(part).nullish() }).nullish(),
        finishReason: text,
      }),
    )
    .nullish(),
  promptFeedback: z.object({ blockReason: text }).nullish().catch(null),
  usageMetadata: z
    .object({
      promptTokenCount: number,
      cachedContentTokenCount: number,
      candidatesTokenCount: number,
      thoughtsTokenCount: number,
      candidatesTokensDetails: optionalListOf(z.object({ modality: text, tokenCount: number })),
    })
    .nullish()
    .catch(null),
  modelVersion: text,
});

/** One answer of a model, or one event of a stream. */
export interface Generated {
  readonly text: string;
  /** Calls of the caller's functions, without ids where the model gives none. */
  readonly calls: readonly (Omit<ChatToolCall, 'id'> & { readonly id: string | null })[];
  readonly files: readonly RemoteFile[];
  /** The finish reason; null before the end. */
  readonly finishReason: string | null;
  readonly model: string | null;
  /** Null when the answer has none. */
  readonly usage: ChatOutcome['usage'] | null;
}

/** Google's error messages that mean refused content. */
const MODERATION =
  /responsible ai|safety|sensitive words|prohibited|violates? .{0,60}polic|usage guidelines/i;

/** Throws Google's error about a start; returns for a success. Its path names the model (Omni: its body). */
export function throwStartRefusal(answer: ExchangeAnswer): void {
  const message = failure.safeParse(answer.json).data?.error.message ?? '';
  const isDenied = (answer.status === 400 || answer.status === 403) && isAboutModel(message);
  const isOfModel = isDenied || (answer.status === 404 && isMissingModel(answer.json, message));
  if (isOfModel) {
    throw modelGone(`gemini: ${message || `HTTP ${answer.status}`}`.slice(0, 500));
  }
  // A wrong address or a proxy's page: Google says NOT_FOUND in words.
  if (answer.status === 404 && message === '') throw new UpstreamError('UNAVAILABLE', 'gemini: HTTP 404');
  throwRefusal(answer);
}

/** Throws Google's error; returns for a success. */
export function throwRefusal(answer: ExchangeAnswer): void {
  if (answer.status < 400) return;
  const parsed = failure.safeParse(answer.json);
  const error = parsed.success ? parsed.data.error : {};
  const details = error.details ?? [];
  const message = `gemini: ${error.message ?? `HTTP ${answer.status}`}`.slice(0, 500);
  const retryAfter = findRetryDelay(details) ?? readRetryAfter(answer);
  if (answer.status === 429) {
    // A daily quota is not available again after the retry delay that comes with it.
    const isForToday = JSON.stringify(details).includes('PerDay');
    throw new UpstreamError(isForToday ? 'OUT_OF_CREDIT' : 'RATE_LIMITED', message, { retryAfter });
  }
  if (details.some(({ reason }) => reason === 'API_KEY_INVALID') || /API key not valid/i.test(message)) {
    throw refusedCredentials('the provider refused our credentials');
  }
  if (answer.status === 400 && MODERATION.test(message)) throw refusedContent(message);
  // Files take a while to process and expire after two days; both come as other errors.
  if (/not in an ACTIVE state/i.test(message)) {
    throw new UpstreamError('UNAVAILABLE', message, { retryAfter });
  }
  if (answer.status === 403 && /\bfile\b.*may not exist/i.test(message)) {
    throw new UpstreamError('LOST', message);
  }
  if (answer.status === 404 && /models\/\S+ is not (found|supported)/i.test(message)) {
    throw new UpstreamError('UNAVAILABLE', message);
  }
  // Allowed regions and billing: nothing the caller can change.
  if (error.status === 'FAILED_PRECONDITION') {
    throw new UpstreamError('OUT_OF_CREDIT', message);
  }
  // Google's own status for overload (a bare 503 may come from a proxy).
  if (answer.status === 503 && error.status === 'UNAVAILABLE') {
    throw new UpstreamError('UNAVAILABLE', message, { retryAfter });
  }
  throw errorOfStatus(answer, message) ?? unreadable(new Error(message));
}

/** Seconds of `retryDelay` ("34.4s") in google.rpc.RetryInfo, rounded up, bounded to an hour. */
function findRetryDelay(details: readonly { readonly retryDelay?: string | null | undefined }[]) {
  const delay = details.map(({ retryDelay }) => /^(\d+(?:\.\d+)?)s$/.exec(retryDelay ?? '')?.[1]);
  const seconds = delay.find((value) => value !== undefined);
  return seconds === undefined ? undefined : Math.min(3_600, Math.ceil(Number(seconds)));
}

/**
 * The candidate of an answer. Throws MODERATION_REFUSED with `field` when the prompt or the whole answer was blocked.
 */
export function parseGenerated(json: unknown, field: string): Generated {
  const parsed = read(generated, { json });
  const { candidates, promptFeedback, usageMetadata: usage, modelVersion } = parsed;
  if (promptFeedback?.blockReason) {
    throw refusedContent(`gemini: the prompt was blocked (${promptFeedback.blockReason})`, field);
  }
  const [candidate] = candidates ?? [];
  const parts = (candidate?.content?.parts ?? []).filter(({ thought }) => thought !== true);
  return {
    text: parts.map((one) => one.text ?? '').join(''),
    calls: parts.flatMap(({ functionCall: call }) =>
      call ? [{ id: call.id ?? null, name: call.name, arguments: call.args ?? {} }] : [],
    ),
    files: parts.flatMap(({ inlineData }) =>
      inlineData
        ? [{ content: Buffer.from(inlineData.data, 'base64'), contentType: inlineData.mimeType }]
        : [],
    ),
    finishReason: candidate?.finishReason ?? null,
    model: modelVersion ?? null,
    usage: usage ? readUsage(usage) : null,
  };
}

function readUsage(usage: NonNullable<z.output<typeof generated>['usageMetadata']>): ChatOutcome['usage'] {
  const details = usage.candidatesTokensDetails ?? [];
  const imageTokens = details.find(({ modality }) => modality === 'IMAGE')?.tokenCount;
  return {
    inputTokens: usage.promptTokenCount ?? 0,
    outputTokens: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
    ...(usage.cachedContentTokenCount && { cachedTokens: usage.cachedContentTokenCount }),
    ...(imageTokens && { imageTokens }),
  };
}

/** Finish reasons that mean refused content. */
const BLOCKED =
  /^(IMAGE_)?(SAFETY|PROHIBITED_CONTENT|RECITATION)$|^(BLOCKLIST|SPII|IMAGE_OTHER|LANGUAGE|MODEL_ARMOR)$/;

/** Throws MODERATION_REFUSED when the finish reason is its content. */
export function throwBlocked(finishReason: string | null, field: string): void {
  if (finishReason !== null && BLOCKED.test(finishReason)) {
    throw refusedContent(`gemini: the answer was withheld (${finishReason})`, field);
  }
}

/** The error for refused content. */
export function refusedContent(message: string, field = 'prompt'): UpstreamError {
  return new UpstreamError('MODERATION_REFUSED', message, { field });
}

/** Whether one of Google's messages means refused content. */
export function isAboutContent(message: string): boolean {
  return MODERATION.test(message);
}

/** A file at Google: downloading it needs our key when it is at our own upstream; the key goes nowhere else. */
export function toRemoteFiles(url: string, { connection }: CallContext): RemoteFile[] {
  if (!URL.canParse(url)) return [];
  const { origin } = new URL(buildUrl(connection, ''));
  return [new URL(url).origin === origin ? { url, headers: connection.headers } : { url }];
}
