import { randomUUID } from 'node:crypto';

import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import { jsonObject, type WireRequest } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import { storeInputs } from '../shared/perform.ts';
import { countTokens } from '../shared/rules/reply.ts';
import { toJobFault } from '../shared/stand-in.ts';
import { exhausted, googleError, invalid, refuse } from './errors.ts';
import type { Files } from './files.ts';
import { formatted, functionCall } from './functions.ts';
import { generateRequest, mediaIn, textIn, type GenerateRequest } from './request.ts';
import { speechProblem, findVoice, wavSamples } from './speech.ts';

/** The context of this wire's handlers. */
export interface GeminiContext {
  readonly runner: JobRunner;
  readonly journal: Journal;
  readonly files: Files;
}

/** The failure of a job that was refused half-way for its content. */
export const MODERATED = 'moderated';
/** Prefix of the failure of a job whose media can't be read, or whose text can't be spoken. */
export const UNREADABLE = 'unreadable: ';

/** Tokens of one image or sound. */
const IMAGE_TOKENS = 1_290;
/** What is said beside an image. */
const DRAWN = 'Here is the image. (Drawn by local-studio, which is no model of the vendor.)';

/** A finished or refused answer of a model, before it is formatted. */
export interface GeneratedAnswer {
  readonly id: string;
  readonly model: string;
  readonly parts: readonly object[];
  readonly finishReason: string;
  readonly promptTokens: number;
  readonly tokens: number;
  /** Of them those of images. */
  readonly imageTokens?: number;
}

/** POST /v1beta/models/{model}:generateContent. */
export async function generateContent(
  context: GeminiContext,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const outcome = await generate(context, request, fault);
  return 'answer' in outcome ? outcome.answer : json(generatedJson(outcome));
}

/** Runs a request to its end; `answer` is the error when there is no result. */
export async function generate(
  context: GeminiContext,
  request: WireRequest,
  fault: Fault | null,
): Promise<GeneratedAnswer | { readonly answer: Answer }> {
  const model = request.params['model'] ?? '';
  if (!model.startsWith('gemini-')) return { answer: noModel(model, 'generateContent') };
  const parsed = generateRequest.safeParse(jsonObject(request));
  if (!parsed.success) return { answer: invalid(describeIssue(parsed.error.issues[0])) };
  const requested = parsed.data;
  const canDraw = /image|banana/.test(model);
  const usual = canDraw ? (['TEXT', 'IMAGE'] as const) : [];
  const modalities = requested.generationConfig?.responseModalities ?? usual;
  const isImage = modalities.includes('IMAGE');
  if (isImage && !canDraw) {
    return { answer: invalid('The requested combination of response modalities is not supported.') };
  }
  const wrong = speechProblem(model, requested);
  if (wrong !== null) return { answer: invalid(wrong) };
  if (fault?.fault === 'queue-full') return { answer: exhausted(3) };
  if (fault?.fault === 'moderation') return { answer: json(blockedJson(model, requested)) };
  const { runner } = context;
  const job = await submit(context, requested, { isImage, fault });
  if ('answer' in job) return job;
  const isTalking = modalities.includes('TEXT');
  const ended = await runner.answered(job.id, request.signal);
  return readOutcome(context, ended, { model, requested, isImage, isTalking });
}

async function submit(
  { runner, journal, files }: GeminiContext,
  requested: GenerateRequest,
  { isImage, fault }: { readonly isImage: boolean; readonly fault: Fault | null },
): Promise<Job | { readonly answer: Answer }> {
  const { contents, systemInstruction, generationConfig } = requested;
  const last = contents.findLast(({ role }) => role !== 'model');
  const all = contents.flatMap(({ parts }) => mediaIn(parts));
  const media: string[] = [];
  const inline = all.flatMap((one) => ('bytes' in one ? [one.bytes] : []));
  for (const one of all) {
    if ('bytes' in one) continue;
    const content = files.findContent(one.uri);
    if ('answer' in content) return content;
    media.push(content.name);
  }
  const id = `gemini-${randomUUID()}`;
  const images = await storeInputs(journal, id, inline);
  const input = {
    prompt: textIn(last?.parts),
    system: textIn(systemInstruction?.parts),
    aspectRatio: generationConfig?.imageConfig?.aspectRatio ?? null,
    seed: generationConfig?.seed ?? null,
    pictures: images,
    voice: findVoice(requested),
    // Uploaded files are not deleted together with this job.
    media: [...images, ...media],
  };
  const isSpeech = input.voice !== null;
  const operation = isSpeech ? 'speech' : isImage ? 'image' : 'generate';
  const jobFault = toJobFault(fault);
  const job = await runner.submit({ id, operation, reference: null, input, fault: jobFault });
  return job ?? { answer: exhausted(3) };
}

interface Requested {
  readonly model: string;
  readonly requested: GenerateRequest;
  readonly isImage: boolean;
  /** Whether it says something beside its image. */
  readonly isTalking: boolean;
}

async function readOutcome(
  { journal }: GeminiContext,
  { id, failure, result }: Job,
  { model, requested, isImage, isTalking }: Requested,
): Promise<GeneratedAnswer | { readonly answer: Answer }> {
  const promptTokens = countPromptTokens(requested);
  if (failure === MODERATED) {
    const finishReason = isImage ? 'IMAGE_SAFETY' : 'SAFETY';
    return { id, model, parts: [], finishReason, promptTokens, tokens: 0 };
  }
  if (failure?.startsWith(UNREADABLE)) return { answer: invalid(failure.slice(UNREADABLE.length)) };
  if (result === null) return { answer: refuse(500, failure ?? 'cancelled') };
  const [file] = result.files;
  if (file !== undefined) {
    const image = await journal.readImage(file.name);
    if (image === null) return { answer: refuse(500, 'the image is gone') };
    const samples = file.contentType === 'audio/wav' ? wavSamples(image) : null;
    const data = (samples?.bytes ?? image).toString('base64');
    const mimeType = samples === null ? file.contentType : `audio/L16;codec=pcm;rate=${samples.rate}`;
    const words = isImage && isTalking ? [{ text: DRAWN }] : [];
    const parts = [...words, { inlineData: { mimeType, data } }];
    const tokens = IMAGE_TOKENS + (words.length > 0 ? countTokens(DRAWN) : 0);
    return { id, model, parts, finishReason: 'STOP', promptTokens, tokens, imageTokens: IMAGE_TOKENS };
  }
  const call = functionCall(requested);
  if (call !== null) return { id, model, parts: [call], finishReason: 'STOP', promptTokens, tokens: 10 };
  const whole = formatted(requested, result.texts[0] ?? '');
  const limit = requested.generationConfig?.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const isCut = countTokens(whole) > limit;
  const text = isCut ? whole.slice(0, limit * 4) : whole;
  const finishReason = isCut ? 'MAX_TOKENS' : 'STOP';
  return { id, model, parts: [{ text }], finishReason, promptTokens, tokens: countTokens(text) };
}

/** The body of an answer, or of one chunk; `finishReason` is null while more follows. */
export function generatedJson(
  { id, model, promptTokens, tokens, imageTokens, ...whole }: GeneratedAnswer,
  piece: { readonly parts: readonly object[]; readonly finishReason: string | null } = whole,
): object {
  const content = piece.parts.length === 0 ? {} : { parts: piece.parts, role: 'model' };
  return {
    candidates: [
      { content, ...(piece.finishReason !== null && { finishReason: piece.finishReason }), index: 0 },
    ],
    usageMetadata: {
      promptTokenCount: promptTokens,
      candidatesTokenCount: tokens,
      ...(imageTokens !== undefined && {
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: imageTokens }],
      }),
      thoughtsTokenCount: 0,
      totalTokenCount: promptTokens + tokens,
    },
    modelVersion: model,
    responseId: id,
  };
}

/** The prompt itself was refused: an answer without candidates. */
function blockedJson(model: string, requested: GenerateRequest): object {
  const tokens = countPromptTokens(requested);
  return {
    promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
    usageMetadata: { promptTokenCount: tokens, totalTokenCount: tokens },
    modelVersion: model,
    responseId: randomUUID(),
  };
}

function countPromptTokens({ contents, systemInstruction }: GenerateRequest): number {
  const texts = [...contents.map(({ parts }) => textIn(parts)), textIn(systemInstruction?.parts)];
  return texts.reduce((sum, text) => sum + countTokens(text), 0);
}

/** 404 in Google's format. */
export function noModel(model: string, method: string): Answer {
  const message = `models/${model} is not found for API version v1beta, or is not supported for ${method}. Call ListModels to see the list of available models and their supported methods.`;
  return googleError('NOT_FOUND', message);
}

/** The validation error of a body. */
export function describeIssue(
  issue: { readonly message: string; readonly path: readonly PropertyKey[] } | undefined,
): string {
  return `Invalid value at '${issue?.path.map(String).join('.') ?? ''}': ${issue?.message ?? 'invalid body'}`;
}
