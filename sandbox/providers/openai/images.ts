import { z } from 'zod';

import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import { readForm } from '../../http/multipart.ts';
import { jsonObject, type WireRequest } from '../../http/wire.ts';
import type { Job } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import { readText } from '../shared/inputs.ts';
import { countTokens } from '../shared/rules/reply.ts';
import { invalid, openaiError } from './errors.ts';
import { streamImages, type MadeImages } from './image-stream.ts';
import { modelRefusal } from './models.ts';
import { accept, endOfWork, startAndWait, type OpenaiContext, type OpenaiStart } from './start.ts';

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
  background: z.enum(['auto', 'opaque', 'transparent']).nullish(),
  quality: z.enum(['auto', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  complexity: z.enum(['low', 'medium', 'high']).nullish(),
  input_fidelity: z.enum(['low', 'high']).nullish(),
  safety_identifier: z.string().nullish(),
  user: z.string().nullish(),
  moderation: z.enum(['auto', 'low']).nullish(),
  output_compression: z.coerce.number().int().min(0).max(100).nullish(),
  stream: z.union([z.boolean(), z.stringbool()]).nullish(),
  partial_images: z.coerce.number().int().min(0).max(3).nullish(),
});

const MAX_EDIT_IMAGES = 16;

/** POST /v1/images/generations. */
export async function generateImages(
  context: OpenaiContext,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  return makeImages(context, { operation: 'images', request, fault, images: [] }, jsonObject(request));
}

/** POST /v1/images/edits: multipart with `image` or `image[]`, and a `mask` whose transparent part is drawn anew. */
export async function editImages(
  context: OpenaiContext,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const form = await readForm(request);
  if (form === null) return invalid('The body must be multipart/form-data.', 'body');
  const images = form.files.filter(({ field }) => /^image(\[\])?$/.test(field)).map((file) => file.bytes);
  if (images.length === 0) return invalid('At least one image is needed.', 'image');
  if (images.length > MAX_EDIT_IMAGES) return invalid(`At most ${MAX_EDIT_IMAGES} images.`, 'image');
  const mask = form.files.find(({ field }) => field === 'mask');
  if (mask !== undefined && !(await fitsAsMask(mask.bytes, images[0]))) {
    return invalid('Invalid mask image format - mask size does not match image size.', 'mask');
  }
  const media = mask === undefined ? images : [...images, mask.bytes];
  const start = { operation: 'edits', request, fault, images: media, hasMask: mask !== undefined } as const;
  return makeImages(context, start, form.fields);
}

async function fitsAsMask(mask: Uint8Array, image: Uint8Array | undefined): Promise<boolean> {
  // Loaded only when needed.
  const { default: sharp } = await import('sharp');
  try {
    const [one, other] = await Promise.all([sharp(mask).metadata(), sharp(image).metadata()]);
    return one.hasAlpha && one.width === other.width && one.height === other.height;
  } catch {
    return false; // not an image
  }
}

async function makeImages(
  context: OpenaiContext,
  start: Omit<OpenaiStart, 'input'> & { readonly hasMask?: boolean },
  body: unknown,
): Promise<Answer> {
  const read = readImageBody(body, start.hasMask === true);
  if ('answer' in read) return read.answer;
  const { requested, input } = read;
  if (requested.stream === true) {
    const accepted = await accept(context, { ...start, input });
    if ('answer' in accepted) return accepted.answer;
    return streamImages({
      event: start.operation === 'edits' ? 'image_edit' : 'image_generation',
      partialImages: requested.partial_images ?? 0,
      made: () => madeImages(context, accepted.job, start.request.signal),
    });
  }
  const outcome = await startAndWait(context, { ...start, input });
  if ('answer' in outcome) return outcome.answer;
  return imagesAnswer(context, outcome.job, start.request.baseUrl, requested.response_format === 'url');
}

/** What a body asks for, and the input of its job; or its refusal. */
export function readImageBody(body: unknown, hasMask: boolean) {
  const parsed = imageRequest.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { answer: invalid(issue?.message ?? 'invalid body', issue?.path.join('.') ?? 'body') };
  }
  const requested = parsed.data;
  const refusal = modelRefusal(requested.model, 'images');
  if (refusal !== null) return { answer: refusal };
  const input = {
    hasMask,
    prompt: requested.prompt,
    n: requested.n ?? 1,
    size: requested.size ?? 'auto',
    format: requested.output_format ?? 'png',
    quality: chosen(requested.quality) ?? 'high',
    background: chosen(requested.background) ?? 'opaque',
  };
  return { requested, input };
}

/** The body of the answer with the images of a job inside; null when they are gone. */
export async function imagesBody(journal: Journal, job: Job): Promise<object | null> {
  const images = await readImages(journal, job);
  return images && { data: images.map((one) => ({ b64_json: one.toString('base64') })), ...toFacts(job) };
}

/** The images of work that goes on, once it has ended. */
async function madeImages(context: OpenaiContext, job: Job, signal: AbortSignal): Promise<MadeImages> {
  const outcome = await endOfWork(context, job, signal);
  if ('answer' in outcome) return outcome;
  const images = await readImages(context.journal, outcome.job);
  return images === null ? { answer: gone() } : { images, facts: toFacts(outcome.job) };
}

async function imagesAnswer(
  context: OpenaiContext,
  job: Job,
  baseUrl: string,
  asUrl: boolean,
): Promise<Answer> {
  const body = await imagesBody(context.journal, job);
  if (body === null) return gone();
  if (!asUrl) return json(body);
  const edition = context.expiry.currentVersion(job.id);
  const data = (job.result?.files ?? []).map(({ name }) => ({
    url: `${baseUrl}/results/${job.id}/${edition}/${name}`,
  }));
  return json({ ...body, data });
}

async function readImages(journal: Journal, job: Job): Promise<readonly Buffer[] | null> {
  const files = job.result?.files ?? [];
  const images = await Promise.all(files.map(({ name }) => journal.readImage(name)));
  return images.includes(null) ? null : images.filter((image) => image !== null);
}

function gone(): Answer {
  return openaiError(500, { message: 'The result is gone.', type: 'server_error' });
}

/** What a request says, where it leaves nothing to the model. */
function chosen(value: string | null | undefined): string | undefined {
  return value === null || value === 'auto' ? undefined : value;
}

/** What an answer tells besides its images. */
function toFacts({ submittedAt, input, result }: Job): object {
  const text = countTokens(readText(input['prompt']) ?? '');
  const image = 300 * (Array.isArray(input['pictures']) ? input['pictures'].length : 0);
  const output = (result?.files.length ?? 0) * 1_000;
  return {
    created: Math.floor(submittedAt / 1_000),
    background: input['background'],
    output_format: input['format'],
    quality: input['quality'],
    size: input['size'],
    usage: {
      input_tokens: text + image,
      input_tokens_details: { text_tokens: text, image_tokens: image },
      output_tokens: output,
      total_tokens: text + image + output,
    },
  };
}
