import { z } from 'zod';

import type { Fault } from '../../faults/faults.ts';
import { bytes, json, type Answer } from '../../http/answer.ts';
import { jsonObject, type WireRequest } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import { readText } from '../shared/inputs.ts';
import { newNumericId } from '../shared/numeric-id.ts';
import { storeInputs } from '../shared/perform.ts';
import type { UrlExpiry } from '../shared/results.ts';
import { toJobFault } from '../shared/stand-in.ts';
import { exhausted, googleError, invalid, noFile } from './errors.ts';
import { MODERATED, noModel, describeIssue } from './generate.ts';

/** Videos: an operation is started and polled, then its file is downloaded with the key. */
export interface VeoContext {
  readonly runner: JobRunner;
  readonly journal: Journal;
  readonly expiry: UrlExpiry;
}

const image = z.strictObject({ bytesBase64Encoded: z.base64().min(1), mimeType: z.string() });
const videoRequest = z.strictObject({
  instances: z.tuple([
    z.strictObject({
      prompt: z.string().min(1),
      image: image.optional(),
      lastFrame: image.optional(),
      referenceImages: z
        .array(z.strictObject({ image, referenceType: z.literal('asset') }))
        .max(3)
        .optional(),
    }),
  ]),
  parameters: z
    .strictObject({
      // This stand-in makes one video; the vendor up to four.
      sampleCount: z.literal(1).optional(),
      aspectRatio: z.enum(['16:9', '9:16']).optional(),
      resolution: z.enum(['720p', '1080p', '4k']).optional(),
      durationSeconds: z.union([z.literal(4), z.literal(6), z.literal(8)]).default(8),
      seed: z.number().int().min(0).optional(),
      personGeneration: z.string().optional(),
      negativePrompt: z.string().optional(),
      enhancePrompt: z.boolean().optional(),
      generateAudio: z.boolean().optional(),
      resizeMode: z.enum(['CROP', 'PAD']).optional(),
      compressionQuality: z.enum(['OPTIMIZED', 'LOSSLESS']).optional(),
    })
    .default({ durationSeconds: 8 }),
});

/** POST /v1beta/models/{model}:predictLongRunning. */
export async function startVideo(
  { runner, journal }: VeoContext,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const model = request.params['model'] ?? '';
  if (!model.startsWith('veo-')) return noModel(model, 'predictLongRunning');
  const parsed = videoRequest.safeParse(jsonObject(request));
  if (!parsed.success) return invalid(describeIssue(parsed.error.issues[0]));
  if (fault?.fault === 'queue-full') return exhausted(3);
  if (fault?.fault === 'moderation') return invalid(SENSITIVE);
  const { instances, parameters } = parsed.data;
  const [{ prompt, image: first, lastFrame: last }] = instances;
  const id = newNumericId('v', 13);
  const frames = [first, last].map((frame) => frame && Buffer.from(frame.bytesBase64Encoded, 'base64'));
  const images = await storeInputs(
    journal,
    id,
    frames.filter((frame) => frame !== undefined),
  );
  const { durationSeconds: seconds, ...rest } = parameters;
  const names = [...images];
  const input = {
    ...withoutAbsent(rest),
    model,
    prompt,
    seconds,
    pictures: images,
    firstFrame: first === undefined ? [] : names.splice(0, 1),
    lastFrame: names,
  };
  const jobFault = toJobFault(fault);
  const job = await runner.submit({ id, operation: 'video', reference: null, input, fault: jobFault });
  return job === null ? exhausted(3) : json({ name: toOperationName(job) });
}

const SENSITIVE =
  "The prompt could not be submitted. This prompt contains sensitive words that violate Google's Responsible AI practices. Try rephrasing the prompt.";

function withoutAbsent(values: Readonly<Record<string, string | number | boolean | undefined>>) {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** GET /v1beta/models/{model}/operations/{id}. */
export async function showOperation(
  { runner, expiry }: VeoContext,
  { params, baseUrl }: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const { id = '' } = params;
  if (fault?.fault === 'lost' || fault?.fault === 'lost-silently') await runner.forget(id);
  const job = runner.get(id);
  if (job?.operation !== 'video') return googleError('NOT_FOUND', 'Requested entity was not found.');
  const uri = `${baseUrl}/v1beta/files/${id}e${expiry.currentVersion(id)}:download?alt=media`;
  return json(operationJson(job, uri));
}

function operationJson(job: Job, uri: string): object {
  const name = toOperationName(job);
  if (job.state === 'finished') {
    return { name, done: true, response: videoResponse({ generatedSamples: [{ video: { uri } }] }) };
  }
  if (job.failure === MODERATED) {
    const reasons = { raiMediaFilteredCount: 1, raiMediaFilteredReasons: [WITHHELD] };
    return { name, done: true, response: videoResponse(reasons) };
  }
  if (job.state === 'failed') {
    return { name, done: true, error: { code: 13, message: job.failure ?? 'Internal error.' } };
  }
  // `done` is absent while false, as in all of Google's JSON.
  return { name };
}

const WITHHELD =
  "We encountered an issue with the video for your prompt, which may violate Google's usage guidelines. You have not been charged for this attempt.";

function videoResponse(generateVideoResponse: object): object {
  const type = 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse';
  return { '@type': type, generateVideoResponse };
}

function toOperationName({ id, input }: Job): string {
  return `models/${readText(input['model']) ?? ''}/operations/${id}`;
}

/** GET /v1beta/files/{id}:download?alt=media. */
export async function downloadVideo(
  { runner, journal, expiry }: VeoContext,
  { params }: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const name = params['id'] ?? '';
  const [, id = '', edition = ''] = /^(\w+?)e(\d+)$/.exec(name) ?? [];
  if (fault?.fault === 'expired-url') expiry.expire(id);
  const file = runner.get(id)?.result?.files[0];
  if (file === undefined || edition !== String(expiry.currentVersion(id))) return noFile(name);
  const content = await journal.readImage(file.name);
  return content === null ? noFile(name) : bytes(content, file.contentType);
}
