import { randomUUID } from 'node:crypto';

import type { JsonObject } from '../../../platform/json.ts';
import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import { jsonObject, type WireRequest } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Journal } from '../../jobs/journal.ts';
import { readImages, withoutImages, readText } from '../shared/inputs.ts';
import { storeInputs } from '../shared/perform.ts';
import { findBannedWord } from '../shared/rules/text.ts';
import { toJobFault } from '../shared/stand-in.ts';
import { invalid, platformError } from './answers.ts';
import type { FalEndpoint } from './endpoints.ts';
import type { FalViews } from './views.ts';

/** The dependencies of a submission. */
export interface Submitting {
  readonly runner: JobRunner;
  readonly journal: Journal;
  readonly views: FalViews;
}

/** POST to an endpoint: queues a request and answers its URLs. */
export async function submit(
  { runner, journal, views }: Submitting,
  { path, operation, input: schema }: FalEndpoint,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  if (fault?.fault === 'queue-full') return tooMany();
  const parsed = schema.safeParse(jsonObject(request));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const loc = issue?.path.map((part) => (typeof part === 'number' ? part : String(part))) ?? [];
    return invalid(
      loc,
      issue?.message ?? 'invalid',
      issue?.code === 'invalid_type' ? 'missing' : 'value_error',
    );
  }
  const inputs = await readImages(journal, parsed.data, IMAGE_FIELDS);
  if ('missing' in inputs)
    return invalid([inputs.missing], 'Could not load image from url', 'image_load_error');
  const id = randomUUID();
  const input: JsonObject = {
    path,
    // Images are stored as files; the rest of the input is stored as it is.
    requested: withoutImages(parsed.data, IMAGE_FIELDS),
    hasMask: parsed.data['mask_url'] !== undefined,
    webhook: request.query.get('fal_webhook'),
    pictures: await storeInputs(journal, id, inputs.images),
  };
  const isBanned = findBannedWord(readText(parsed.data['prompt']) ?? '') !== null;
  // Content is checked by the model, which runs after the queue.
  const jobFault = isBanned ? 'moderate' : toJobFault(fault);
  const job = await runner.submit({ id, operation, reference: null, input, fault: jobFault });
  return job === null ? tooMany() : json(views.status(job, request.baseUrl, false));
}

function tooMany(): Answer {
  return platformError(429, 'Too many requests: the queue of this key is full');
}

const IMAGE_FIELDS = [
  'image_url',
  'start_image_url',
  'image_urls',
  'tail_image_url',
  'end_image_url',
  'mask_url',
];
