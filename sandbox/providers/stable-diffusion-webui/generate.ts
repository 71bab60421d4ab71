import { randomInt, randomUUID } from 'node:crypto';

import { z } from 'zod';

import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import { jsonObject, type WireRequest } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import { invalidField } from '../shared/fastapi.ts';
import { readText } from '../shared/inputs.ts';
import { storeInputs } from '../shared/perform.ts';
import { toJobFault } from '../shared/stand-in.ts';
import { exception, httpException, isCheckpoint, isSampler, LOADED } from './answers.ts';

/** The context of this wire's routes. */
export interface WebuiParts {
  readonly runner: JobRunner;
  readonly journal: Journal;
}

const edge = z.int().min(8).max(4_096).default(512);
const base64 = z.string().transform((value) => value.replace(/^data:[^,]*,/, ''));
const shared = {
  prompt: z.string().default(''),
  negative_prompt: z.string().default(''),
  seed: z.int().default(-1),
  steps: z.int().min(1).max(150).default(50),
  cfg_scale: z.number().default(7),
  width: edge,
  height: edge,
  n_iter: z.int().min(1).max(100).default(1),
  batch_size: z.int().min(1).max(8).default(1),
  sampler_name: z.string().nullish(),
  override_settings: z.object({ sd_model_checkpoint: z.string().nullish() }).nullish(),
  send_images: z.boolean().default(true),
  force_task_id: z.string().nullish(),
  script_name: z.string().nullish(),
  alwayson_scripts: z.record(z.string(), z.unknown()).nullish(),
  enable_hr: z.boolean().nullish(),
};
const textToImage = z.object(shared);
const imageToImage = z.object({
  ...shared,
  init_images: z.array(base64).nullish(),
  mask: base64.nullish(),
  denoising_strength: z.number().min(0).max(1).default(0.75),
  inpaint_full_res: z.boolean().default(true),
  inpainting_fill: z.int().min(0).max(3).default(0),
});
type Requested = z.output<typeof textToImage> & Partial<z.output<typeof imageToImage>>;

/** POST /sdapi/v1/txt2img and img2img: answered when the images are there. Jobs run one after another. */
export async function generate(
  parts: WebuiParts,
  operation: 'txt2img' | 'img2img',
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const schema = operation === 'txt2img' ? textToImage : imageToImage;
  const parsed = schema.safeParse(jsonObject(request));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return invalidField(issue?.path ?? [], issue?.message ?? 'invalid');
  }
  const requested: Requested = parsed.data;
  const { sampler_name: sampler, init_images: images = [], mask } = requested;
  const refusal = findRefusal(requested);
  if (refusal !== null) return refusal;
  if (operation === 'img2img' && (images === null || images.length === 0)) {
    return httpException(404, 'Init image not found');
  }
  const sources = [...(images ?? []), ...(mask ? [mask] : [])].map((value) => Buffer.from(value, 'base64'));
  if (sources.some((image) => !isImage(image))) return httpException(500, 'Invalid encoded image');
  const id = randomUUID();
  const job = await parts.runner.submit({
    id,
    operation,
    reference: requested.force_task_id ?? null,
    input: {
      prompt: requested.prompt,
      negative: requested.negative_prompt,
      // The server draws a seed where none is named.
      seed: requested.seed < 0 ? randomInt(2 ** 31) : requested.seed,
      count: requested.n_iter * requested.batch_size,
      width: requested.width,
      height: requested.height,
      steps: requested.steps,
      sampler: sampler ?? 'Euler',
      checkpoint: readCheckpoint(requested),
      hasMask: Boolean(mask),
      pictures: await storeInputs(parts.journal, id, sources),
    },
    fault: toJobFault(fault),
  });
  if (job === null) return exception(500, { error: 'RuntimeError', errors: 'the queue is full' });
  return toAnswer(parts, await parts.runner.answered(id, request.signal), requested.send_images);
}

/** Why the server can't: it has no such sampler or script, and no second pass. */
function findRefusal(requested: Requested): Answer | null {
  const { sampler_name: sampler, script_name: script, alwayson_scripts: always } = requested;
  if (sampler && !isSampler(sampler)) return httpException(404, 'Sampler not found');
  if (script) return httpException(422, `Script '${script}' not found`);
  const [first] = Object.keys(always ?? {});
  if (first !== undefined) return httpException(422, `always on script ${first} not found`);
  if (requested.enable_hr !== true) return null;
  return exception(500, { error: 'NotImplementedError', errors: 'this stand-in has no second pass' });
}

/** A name that the server does not have is ignored: what is loaded is used. */
function readCheckpoint({ override_settings: settings }: Requested): string {
  const name = settings?.sd_model_checkpoint;
  return name && isCheckpoint(name) ? name : LOADED;
}

/** PNG, JPEG or WebP. */
function isImage(bytes: Buffer): boolean {
  const head = bytes.subarray(0, 4).toString('latin1');
  return head === '\x89PNG' || head.startsWith('\xFF\xD8\xFF') || head === 'RIFF';
}

/** The answer of an ended job; an interrupted one has what was there: here nothing. */
async function toAnswer({ journal }: WebuiParts, job: Job, sendsImages: boolean): Promise<Answer> {
  if (job.failure !== null) return exception(500, { error: 'RuntimeError', errors: job.failure });
  const files = sendsImages ? (job.result?.files ?? []) : [];
  const images = await Promise.all(files.map(({ name }) => journal.readImage(name)));
  return json({
    images: images.map((image) => image?.toString('base64') ?? ''),
    parameters: {},
    info: JSON.stringify(toInfo(job)),
  });
}

function toInfo({ input, result }: Job): object {
  const seed = Number(input['seed']);
  const count = result?.files.length ?? 0;
  return {
    prompt: input['prompt'],
    all_prompts: Array.from({ length: count }, () => readText(input['prompt']) ?? ''),
    negative_prompt: input['negative'],
    seed,
    all_seeds: Array.from({ length: count }, (_value, index) => seed + index),
    width: input['width'],
    height: input['height'],
    sampler_name: input['sampler'],
    steps: input['steps'],
    batch_size: 1,
    sd_model_name: input['checkpoint'],
    index_of_first_image: 0,
  };
}
