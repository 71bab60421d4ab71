import { z } from 'zod';

import type { Fault } from '../../faults/faults.ts';
import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';
import { jsonObject } from '../../http/wire.ts';
import type { WireRequest } from '../../http/wire.ts';
import type { Job } from '../../jobs/job.ts';
import { readForm } from '../shared/inputs/multipart.ts';
import { textOf } from '../shared/inputs/text-of.ts';
import { countTokens } from '../shared/rules/reply.ts';
import { invalid, openaiError } from './errors.ts';
import { startAndWait } from './start.ts';
import type { OpenaiContext, OpenaiStart } from './start.ts';

const size = z
  .string()
  .regex(/^(auto|[1-9]\d{1,3}x[1-9]\d{1,3})$/, 'must be WIDTHxHEIGHT or auto')
  .refine(
    (value) =>
      value === 'auto' || value.split('x').every((edge) => Number(edge) >= 16 && Number(edge) <= 4_096),
    'edges are between 16 and 4096',
  );
const imageRequest = z.object({
  prompt: z.string().min(1).max(32_000),
  model: z.string().default('local-studio'),
  n: z.coerce.number().int().min(1).max(10).nullish(),
  size: size.nullish(),
  output_format: z.enum(['png', 'jpeg', 'webp']).nullish(),
  response_format: z.enum(['b64_json', 'url']).nullish(),
});

const MAX_EDIT_PICTURES = 5;

/** POST /v1/images/generations. */
export async function generateImages(
  context: OpenaiContext,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  return makeImages(context, { operation: 'images', request, fault, pictures: [] }, jsonObject(request));
}

/** POST /v1/images/edits: multipart with `image` or `image[]`; the mask is accepted and ignored. */
export async function editImages(
  context: OpenaiContext,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const form = await readForm(request);
  if (form === null) return invalid('The body must be multipart/form-data.', 'body');
  const pictures = form.files.filter(({ field }) => /^image(\[\])?$/.test(field)).map((file) => file.bytes);
  if (pictures.length === 0) return invalid('At least one image is needed.', 'image');
  if (pictures.length > MAX_EDIT_PICTURES) return invalid(`At most ${MAX_EDIT_PICTURES} images.`, 'image');
  return makeImages(context, { operation: 'edits', request, fault, pictures }, form.fields);
}

async function makeImages(
  context: OpenaiContext,
  start: Omit<OpenaiStart, 'input'>,
  body: unknown,
): Promise<Answer> {
  const parsed = imageRequest.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return invalid(issue?.message ?? 'invalid body', issue?.path.join('.') ?? 'body');
  }
  const requested = parsed.data;
  const input = {
    prompt: requested.prompt,
    n: requested.n ?? 1,
    size: requested.size ?? 'auto',
    format: requested.output_format ?? 'png',
  };
  const outcome = await startAndWait(context, { ...start, input });
  if ('answer' in outcome) return outcome.answer;
  return imagesAnswer(context, outcome.job, start.request.baseUrl, requested.response_format === 'url');
}

async function imagesAnswer(
  { journal, expiry }: OpenaiContext,
  job: Job,
  baseUrl: string,
  asUrl: boolean,
): Promise<Answer> {
  const data: object[] = [];
  for (const { name } of job.result?.files ?? []) {
    const picture = await journal.readPicture(name);
    if (picture === null) return openaiError(500, { message: 'The result is gone.', type: 'server_error' });
    const url = `${baseUrl}/results/${job.id}/${expiry.versionOf(job.id)}/${name}`;
    data.push(asUrl ? { url } : { b64_json: picture.toString('base64') });
  }
  const inputTokens = countTokens(textOf(job.input['prompt']) ?? '');
  const outputTokens = data.length * 1_000;
  return json({
    created: Math.floor(job.submittedAt / 1_000),
    data,
    output_format: job.input['format'],
    usage: {
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
    },
  });
}
