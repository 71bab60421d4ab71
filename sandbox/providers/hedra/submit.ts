import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import type { JsonObject } from '../../../platform/json.ts';
import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import { jsonObject, type WireRequest } from '../../http/wire.ts';
import type { Job } from '../../jobs/job.ts';
import { readText } from '../shared/inputs.ts';
import { findBannedWord } from '../shared/rules/text.ts';
import { toJobFault } from '../shared/stand-in.ts';
import { fileName } from '../shared/uploads.ts';
import { invalidInput, refusal, type FieldProblem } from './errors.ts';
import { uploadAt } from './files.ts';
import { findAssetJob, toStatus, voiceName, listVoices } from './job-json.ts';
import type { HedraParts } from './parts.ts';

/** A model of v3: its public id, and what it takes. */
export interface Model {
  readonly id: string;
  readonly kind: ModelInput['kind'];
  /** How faults name its jobs. */
  readonly operation: 'submit' | 'speech';
}

/** POST /v3/models/{model}: queues a job. The same Idempotency-Key gives the same job. */
export async function submit(
  parts: HedraParts,
  model: Model,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const read = readRequest(model.kind, jsonObject(request));
  if ('problems' in read) {
    return refusal(400, 'INVALID_ARGUMENT', { message: 'Invalid input.', details: read.problems });
  }
  if (fault?.fault === 'queue-full') return full();
  const key = request.headers['idempotency-key'] ?? null;
  const known = parts.runner.list().find(({ reference }) => key !== null && reference === key);
  if (known !== undefined) return accepted(parts, known);
  const input = toJobInput(parts, read.wanted, request.baseUrl);
  if ('problem' in input) return invalidInput(input.problem);
  const words = read.wanted.kind === 'avatar' ? read.wanted.input.prompt : read.wanted.input.text;
  const job = await parts.runner.submit({
    id: `job_${randomUUID()}`,
    operation: model.operation,
    reference: key,
    input: { ...input.job, model: model.id, webhook: read.webhook },
    // Content is looked at when the job runs.
    fault: findBannedWord(words) === null ? toJobFault(fault) : 'moderate',
  });
  return job === null ? full() : accepted(parts, job);
}

function full(): Answer {
  return refusal(429, 'RESOURCE_EXHAUSTED', { message: 'Too many concurrent jobs.', retryAfter: 1 });
}

function accepted(parts: HedraParts, job: Job): Answer {
  const path = `/v3/jobs/${job.id}`;
  const { status } = toStatus(parts, job);
  const urls = { status_url: `${path}/status`, result_url: path };
  const body = { job_id: job.id, model: job.input['model'] ?? null, status, ...urls };
  return json({ ...body, estimated_completion_at: null }, 202, { location: path });
}

/** The job's input, its files named; or the first field that names none. */
function toJobInput(
  parts: HedraParts,
  wanted: ModelInput,
  baseUrl: string,
): { readonly job: JsonObject } | { readonly problem: FieldProblem } {
  if (wanted.kind === 'speech') {
    const { text, voice_id: voiceId, speed } = wanted.input;
    const voice = listVoices(parts.studio).find((one) => voiceName(one) === voiceId);
    if (voice === undefined) {
      return { problem: { field: 'input.voice_id', message: 'Unknown voice.', reason: 'not_found' } };
    }
    return { job: { text, voice: voice.id, speed: speed ?? 1 } };
  }
  const { prompt, aspect_ratio: aspectRatio, resolution, start_image: image, audio } = wanted.input;
  const images: string[] = [];
  for (const [field, source] of [
    ['start_image', image],
    ['audio', audio],
  ] as const) {
    const file = resolveFile(parts, source, { baseUrl, type: field === 'audio' ? 'audio' : 'image' });
    if ('reason' in file) return { problem: { field: `input.${field}`, ...file } };
    images.push(file.name);
  }
  return { job: { prompt, aspectRatio, resolution, pictures: images } };
}

/** The journal's name of a file: an upload, or the output of a job. */
function resolveFile(
  parts: HedraParts,
  source: Source,
  { baseUrl, type }: { readonly baseUrl: string; readonly type: string },
): { readonly name: string } | { readonly message: string; readonly reason: string } {
  if (source.source === 'asset') {
    const output = findAssetJob(parts.runner, source.asset_id)?.result?.files[0];
    if (output?.contentType.startsWith(`${type}/`) === true) return { name: output.name };
    return { message: 'No such asset.', reason: 'not_found' };
  }
  const found = uploadAt(parts, source.url, baseUrl);
  if (found === 'external') return { message: 'Upload the file at POST /v3/files.', reason: 'external' };
  if (found === 'expired') return { message: 'The upload has expired.', reason: 'expired' };
  const isRight = readText(found.job.input['contentType'])?.startsWith(`${type}/`) === true;
  return isRight ? { name: fileName(found.job.id) } : { message: `Not an ${type}.`, reason: 'type' };
}

/** The input schemas of v3's models that this stand-in has. */

const source = z.discriminatedUnion('source', [
  z.strictObject({ source: z.literal('url'), url: z.string().min(1) }),
  z.strictObject({ source: z.literal('asset'), asset_id: z.string().min(1) }),
]);
/** Where a file of a job comes from. */
type Source = z.output<typeof source>;

const avatar = z.strictObject({
  num_outputs: z.literal(1).nullish(),
  prompt: z.string().min(1),
  aspect_ratio: z.enum(['1:1', '4:3', '3:4', '16:9', '9:16', '9:21', '21:9']),
  resolution: z.enum(['540p', '720p', '1080p']),
  duration_ms: z.int().min(1).max(600_000).nullish(),
  start_image: source,
  // Several speakers are not there.
  audio: source,
  bounding_box_target: z.array(z.union([z.number(), z.array(z.number()).length(2)])).nullish(),
});

const speech = z.strictObject({
  text: z.string().min(1).max(5_000),
  stability: z.number().min(0).max(1).nullish(),
  speed: z.number().min(0.7).max(1.2).nullish(),
  language: z.string().nullish(),
  voice_id: z.string().min(1),
});

/** An input of a model, checked. */
type ModelInput =
  | { readonly kind: 'avatar'; readonly input: z.output<typeof avatar> }
  | { readonly kind: 'speech'; readonly input: z.output<typeof speech> };

const body = <Input extends z.ZodType>(input: Input) =>
  z.strictObject({ input, webhook: z.url({ protocol: /^https?$/ }).nullish() });

/** A request to a model: its input and webhook, or what is wrong with it, every field of it. */
function readRequest(
  kind: ModelInput['kind'],
  json: unknown,
): { readonly wanted: ModelInput; readonly webhook: string | null } | { readonly problems: FieldProblem[] } {
  if (kind === 'avatar') {
    const parsed = body(avatar).safeParse(json);
    if (!parsed.success) return { problems: parsed.error.issues.map(toFieldProblem) };
    return { wanted: { kind, input: parsed.data.input }, webhook: parsed.data.webhook ?? null };
  }
  const parsed = body(speech).safeParse(json);
  if (!parsed.success) return { problems: parsed.error.issues.map(toFieldProblem) };
  return { wanted: { kind, input: parsed.data.input }, webhook: parsed.data.webhook ?? null };
}

function toFieldProblem(issue: z.core.$ZodIssue): FieldProblem {
  const field = issue.path.join('.') || 'input';
  const isMissing = issue.code === 'invalid_type' && issue.input === undefined;
  const reason = isMissing ? 'required' : issue.code === 'invalid_value' ? 'enum' : 'type';
  return { field, message: issue.message, reason };
}
