import { randomBytes } from 'node:crypto';

import type { JsonObject } from '../../../platform/json.ts';
import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import { jsonObject, type WireRequest } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import { readImages, withoutImages, readText } from '../shared/inputs.ts';
import { storeInputs } from '../shared/perform.ts';
import type { Results } from '../shared/results.ts';
import { findBannedWord } from '../shared/rules/text.ts';
import { toJobFault } from '../shared/stand-in.ts';
import { MODELS, toVersion } from './models.ts';
import type { ReplicateModel } from './newer-models.ts';
import { predictionJson } from './prediction-json.ts';

/** The context of Replicate's routes. */
export interface ReplicateParts {
  readonly runner: JobRunner;
  readonly journal: Journal;
  readonly results: Results;
}

/** An error in this API's format. */
export function problem(status: number, title: string, detail: string): Answer {
  return json({ title, detail, status }, status);
}

/** A new id: 26 letters and digits. */
export function newPredictionId(): string {
  return [...randomBytes(26)].map((byte) => '0123456789abcdefghjkmnpqrstvwxyz'[byte % 32]).join('');
}

/** POST /v1/models/{owner}/{name}/predictions. */
export function startOfModel(
  parts: ReplicateParts,
  model: ReplicateModel,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  return start(parts, { model, body: jsonObject(request), request, fault });
}

/** POST /v1/predictions: a model by its version's hash, by its name, or by both with a colon. */
export async function startOfVersion(
  parts: ReplicateParts,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const body = jsonObject(request);
  const version = readText(body?.['version']) ?? '';
  const [name, hash] = version.split(':');
  const model = MODELS.find((one) =>
    version.includes('/')
      ? one.name === name && (hash === undefined || hash === toVersion(one))
      : version === toVersion(one),
  );
  if (model !== undefined) return start(parts, { model, body, request, fault });
  return problem(
    422,
    'Invalid version or not permitted',
    'The specified version does not exist (or perhaps you don’t have permission to use it?)',
  );
}

interface Starting {
  readonly model: ReplicateModel;
  readonly body: Record<string, unknown> | null;
  readonly request: WireRequest;
  readonly fault: Fault | null;
}

async function start(parts: ReplicateParts, { model, body, request, fault }: Starting): Promise<Answer> {
  const { runner, journal } = parts;
  if (fault?.fault === 'queue-full') return throttled();
  const parsed = model.input.safeParse(body?.['input']);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return invalidInput(issue?.path.join('.') ?? '', issue?.message ?? 'invalid');
  }
  const inputs = await readImages(journal, parsed.data, IMAGE_FIELDS);
  if ('missing' in inputs) return invalidInput(inputs.missing, 'could not be fetched');
  const id = newPredictionId();
  const input: JsonObject = {
    model: model.name,
    answersList: model.answersList,
    requested: withoutImages(parsed.data, IMAGE_FIELDS),
    hasMask: parsed.data['mask'] !== undefined,
    webhook: readText(body?.['webhook']),
    events: Array.isArray(body?.['webhook_events_filter']) ? body['webhook_events_filter'].map(String) : null,
    pictures: await storeInputs(journal, id, inputs.images),
  };
  const isBanned = findBannedWord(readText(parsed.data['prompt']) ?? '') !== null;
  // Content is checked by the model when it runs.
  const jobFault = isBanned ? 'moderate' : toJobFault(fault);
  const job = await runner.submit({
    id,
    operation: model.operation,
    reference: null,
    input,
    fault: jobFault,
  });
  if (job === null) return throttled();
  const shown = await waited(runner, job, request);
  return json(predictionJson(parts, shown, request.baseUrl), 201, {
    'preference-applied': toPreferHeader(request),
  });
}

/** `wait` or `wait=n`: how long the answer is held back for the end, in seconds; 0 without it. */
function waitSeconds({ headers }: WireRequest): number {
  const [, seconds = '60'] = /\bwait(?:=(\d+))?\b/.exec(headers['prefer'] ?? '') ?? [null, '0'];
  return Math.min(60, Number(seconds));
}

function toPreferHeader(request: WireRequest): string {
  const seconds = waitSeconds(request);
  return seconds === 0 ? 'respond-async' : `wait=${seconds}`;
}

async function waited(runner: JobRunner, job: Job, request: WireRequest): Promise<Job> {
  const seconds = waitSeconds(request);
  if (seconds === 0) return job;
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(seconds * 1_000)]);
  return runner.ended(job.id, signal).catch(() => runner.get(job.id) ?? job);
}

function throttled(): Answer {
  return problem(429, 'Too Many Requests', 'Request was throttled. Your rate limit resets in ~1s.');
}

function invalidInput(field: string, message: string): Answer {
  const detail = `- input.${field}: ${message}\n`;
  const invalid = { type: 'invalid', field: `input.${field}`, description: message };
  return json({ title: 'Input validation failed', detail, status: 422, invalid_fields: [invalid] }, 422);
}

const IMAGE_FIELDS = [
  'image',
  'start_image',
  'input_image',
  'image_input',
  'last_frame_image',
  'end_image',
  'mask',
  'input_images',
  'last_frame',
];
