import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import type { JsonObject } from '../../../platform/json.ts';
import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import { jsonObject, type WireRequest } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job, JobState } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import { detail, invalidField } from '../shared/fastapi.ts';
import { givenImage } from '../shared/inputs.ts';
import { storeInputs } from '../shared/perform.ts';
import type { Results } from '../shared/results.ts';
import { findBannedWord } from '../shared/rules/text.ts';
import { toJobFault } from '../shared/stand-in.ts';

/** The context of Higgsfield's routes. */
export interface HiggsfieldParts {
  readonly runner: JobRunner;
  readonly journal: Journal;
  readonly results: Results;
}

const character = z.object({
  name: z.string().min(1).max(100),
  input_images: z
    .array(z.object({ type: z.literal('image_url'), image_url: z.url() }))
    .min(1)
    .max(100),
  model_version: z.enum(['v1', 'v2', 'cinema']).nullish(),
});

const soul = z.object({
  prompt: z.string().min(1),
  aspect_ratio: z.enum(['9:16', '16:9', '4:3', '3:4', '1:1', '2:3', '3:2']).default('4:3'),
  resolution: z.enum(['720p', '1080p']).default('720p'),
  batch_size: z.literal([1, 4]).default(1),
  enhance_prompt: z.boolean().nullish(),
  style_id: z.uuid().nullish(),
  custom_reference_id: z.uuid().nullish(),
  custom_reference_strength: z.number().min(0).max(1).nullish(),
  seed: z.number().int().min(1).max(1_000_000).nullish(),
});

/** POST /v1/custom-references. */
export async function startCharacter(
  parts: HiggsfieldParts,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const requested = character.safeParse(jsonObject(request));
  if (!requested.success) return invalid(requested.error);
  const { name, input_images: images } = requested.data;
  const refusal = findRefusal(name, fault);
  if (refusal !== null) return refusal;
  const known = knownBy(parts.runner, request, 'character');
  if (known !== null) return json(characterJson(known));
  const contents: Buffer[] = [];
  for (const [index, { image_url: address }] of images.entries()) {
    const image = await givenImage(parts.journal, address);
    if (image === null) return invalidField(['input_images', index, 'image_url'], 'Image is not accessible');
    contents.push(image);
  }
  const id = randomUUID();
  const input = { name, pictures: await storeInputs(parts.journal, id, contents) };
  const job = await submit(parts, request, { id, operation: 'character', input, fault });
  return job === null ? full() : json(characterJson(job));
}

/** POST /higgsfield-ai/soul/standard. */
export async function startSoul(
  parts: HiggsfieldParts,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const requested = soul.safeParse(jsonObject(request));
  if (!requested.success) return invalid(requested.error);
  const { prompt, custom_reference_id: person, batch_size: count, aspect_ratio, seed } = requested.data;
  const refusal = findRefusal(prompt, fault);
  if (refusal !== null) return refusal;
  const known = knownBy(parts.runner, request, 'soul');
  if (known !== null) return json(requestJson(known, parts.results, request.baseUrl));
  const reference = person ? parts.runner.get(person) : null;
  if (person && (reference?.operation !== 'character' || reference.state !== 'finished')) {
    return invalidField(['custom_reference_id'], 'Custom reference is not ready');
  }
  const input: JsonObject = {
    prompt,
    count,
    aspectRatio: aspect_ratio,
    seed: seed ?? null,
    pictures: reference?.input['pictures'] ?? [],
    webhook: request.query.get('hf_webhook'),
  };
  const isBanned = findBannedWord(prompt) !== null;
  const job = await submit(parts, request, { id: randomUUID(), operation: 'soul', input, fault, isBanned });
  return job === null ? full() : json(requestJson(job, parts.results, request.baseUrl));
}

/** Prompts that simulate an account without credits. */
const NO_CREDITS = 'no-credits-test';

function findRefusal(words: string, fault: Fault | null): Answer | null {
  if (words.includes(NO_CREDITS)) return detail(403, 'Not enough credits');
  return fault?.fault === 'queue-full' ? full() : null;
}

function full(): Answer {
  return detail(429, 'Too many concurrent requests');
}

function invalid({ issues: [issue] }: z.ZodError): Answer {
  return invalidField(issue?.path ?? [], issue?.message ?? 'invalid');
}

/** The earlier job of the same key. */
function knownBy(runner: JobRunner, { headers }: WireRequest, operation: string): Job | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  return runner.list().find((job) => job.reference === key && job.operation === operation) ?? null;
}

interface Submitting {
  readonly id: string;
  readonly operation: string;
  readonly input: JsonObject;
  readonly fault: Fault | null;
  readonly isBanned?: boolean;
}

/** Accepts the job: its start counts from here on, even if the answer is lost. */
function submit(
  { runner }: HiggsfieldParts,
  { headers }: WireRequest,
  { id, operation, input, fault, isBanned = false }: Submitting,
): Promise<Job | null> {
  const reference = headers['idempotency-key'] ?? null;
  const jobFault = isBanned ? 'moderate' : toJobFault(fault);
  return runner.submit({ id, operation, reference, input, fault: jobFault });
}

/** The failure of a job that was refused for its content. */
export const NSFW = 'nsfw';

const STATUS: Readonly<Record<JobState, string>> = {
  queued: 'queued',
  running: 'in_progress',
  finished: 'completed',
  failed: 'failed',
  cancelled: 'canceled',
};

/** The JSON of a request for images, in submissions, status answers and webhooks. */
export function requestJson(job: Job, results: Results, baseUrl: string): object {
  const at = `${baseUrl}/requests/${job.id}`;
  const images = (job.result?.files ?? []).map((_file, index) => ({
    url: results.toUrl(job, baseUrl, index),
  }));
  return {
    status: job.failure === NSFW ? 'nsfw' : STATUS[job.state],
    request_id: job.id,
    status_url: `${at}/status`,
    cancel_url: `${at}/cancel`,
    ...(images.length > 0 && { images }),
    ...(job.failure !== null && job.failure !== NSFW && { error: job.failure }),
  };
}

/** The JSON of a character. */
export function characterJson(job: Job): object {
  const at = (time: number | null) => (time === null ? null : new Date(time).toISOString());
  return {
    id: job.id,
    name: job.input['name'] ?? '',
    status: job.state === 'queued' ? 'not_ready' : STATUS[job.state],
    thumbnail_url: null,
    created_at: at(job.submittedAt),
    in_progress_at: at(job.startedAt),
  };
}
