import { z } from 'zod';

/** The endpoints that this stand-in has, each with the input schema that fal publishes for it. */
export interface FalEndpoint {
  /** Path of a submission. */
  readonly path: string;
  /** How faults name a start. */
  readonly operation: 'image' | 'video';
  readonly input: z.ZodType<Record<string, unknown>>;
}

const prompt = z.string().min(1).max(5_000);
const address = z.string().regex(/^(data:|https?:\/\/)/, 'Invalid URL');
const seed = z.number().int().nullish();
const count = z.number().int().min(1).max(4).default(1);
const names = [
  'square_hd',
  'square',
  'portrait_4_3',
  'portrait_16_9',
  'landscape_4_3',
  'landscape_16_9',
] as const;
const edge = z.number().int().min(14).max(14_142);
const imageSize = z.union([z.enum(names), z.object({ width: edge, height: edge })]).default('landscape_4_3');
const shapes = z.enum(['auto', '21:9', '16:9', '3:2', '4:3', '5:4', '1:1', '4:5', '3:4', '2:3', '9:16']);

const flux = z.looseObject({
  prompt,
  image_size: imageSize,
  num_images: count,
  seed,
  guidance_scale: z.number().min(1).max(20).nullish(),
  num_inference_steps: z.number().int().min(1).max(50).nullish(),
  acceleration: z.enum(['none', 'regular', 'high']).nullish(),
  enable_safety_checker: z.boolean().nullish(),
  output_format: z.enum(['jpeg', 'png']).nullish(),
});
const nanoBanana = z.looseObject({
  prompt,
  num_images: count,
  aspect_ratio: shapes.default('1:1'),
  seed,
  output_format: z.enum(['jpeg', 'png', 'webp']).nullish(),
  safety_tolerance: z.enum(['1', '2', '3', '4', '5', '6']).nullish(),
  limit_generations: z.boolean().nullish(),
});
const kling = z.looseObject({
  prompt: prompt.max(2_500),
  negative_prompt: z.string().max(2_500).nullish(),
  cfg_scale: z.number().min(0).max(1).nullish(),
  duration: z.enum(['5', '10']).default('5'),
});
const seedance = z.looseObject({
  prompt,
  resolution: z.enum(['480p', '720p', '1080p']).default('720p'),
  duration: z.enum(['2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12']).default('5'),
  seed,
  camera_fixed: z.boolean().nullish(),
});

/** A model that no client names: what it takes is told by its description alone, and one thing not even by that. */
const paperCut = z
  .looseObject({
    prompt: prompt.max(800),
    num_images: z.number().int().min(1).max(2).default(1),
    image_size: imageSize,
    seed,
    paper: z.enum(['washi', 'kraft', 'vellum']).default('washi').describe('What it is cut from.'),
    layers: z.number().int().min(1).max(8).nullish(),
    light: z.object({ angle: z.number().min(0).max(360), warm: z.boolean().optional() }).optional(),
    output_format: z.enum(['jpeg', 'png']).default('png'),
    sync_mode: z.boolean().default(false),
  })
  .refine(({ paper, layers }) => paper !== 'vellum' || (layers ?? 1) <= 4, {
    path: ['layers'],
    error: 'vellum has at most 4 layers',
  });

const KLING = '/fal-ai/kling-video/v2.5-turbo/pro';
const SEEDANCE = '/fal-ai/bytedance/seedance/v1/lite';
const seedanceShapes = z.enum(['21:9', '16:9', '4:3', '1:1', '3:4', '9:16', '9:21']).default('16:9');

const nanoBananaPro = nanoBanana.extend({
  resolution: z.enum(['1K', '2K', '4K']).nullish(),
  enable_web_search: z.boolean().nullish(),
});
const nanoBanana2 = nanoBananaPro.extend({
  resolution: z.enum(['0.5K', '1K', '2K', '4K']).nullish(),
  aspect_ratio: z.enum([...shapes.options, '4:1', '1:4', '8:1', '1:8']).default('auto'),
  thinking_level: z.enum(['minimal', 'high']).nullish(),
});
const kling26 = kling.extend({ generate_audio: z.boolean().nullish() });
const kling3 = kling.extend({
  duration: z.enum(['3', '4', '5', '6', '7', '8', '9', '10', '11', '12', '13', '14', '15']).default('5'),
  generate_audio: z.boolean().nullish(),
});
const seedance2 = z.looseObject({
  prompt,
  resolution: z.enum(['480p', '720p', '1080p', '4k']).default('720p'),
  duration: z
    .string()
    .regex(/^\d{1,2}$/)
    .default('5'),
  aspect_ratio: z.enum(['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', 'auto']).default('auto'),
});

/** The two endpoints of a family of videos. */
function family(
  path: string,
  words: FalEndpoint['input'],
  images: FalEndpoint['input'],
): readonly FalEndpoint[] {
  return [
    { path: `${path}/text-to-video`, operation: 'video', input: words },
    { path: `${path}/image-to-video`, operation: 'video', input: images },
  ];
}

/** Every endpoint there is. */
export const ENDPOINTS: readonly FalEndpoint[] = [
  { path: '/fal-ai/nano-banana-pro', operation: 'image', input: nanoBananaPro },
  {
    path: '/fal-ai/nano-banana-pro/edit',
    operation: 'image',
    input: nanoBananaPro.extend({ image_urls: z.array(address).min(1).max(14) }),
  },
  { path: '/fal-ai/nano-banana-2', operation: 'image', input: nanoBanana2 },
  {
    path: '/fal-ai/nano-banana-2/edit',
    operation: 'image',
    input: nanoBanana2.extend({ image_urls: z.array(address).min(1).max(14) }),
  },
  ...family(
    '/fal-ai/kling-video/v2.6/pro',
    kling26.extend({ aspect_ratio: z.enum(['16:9', '9:16', '1:1']).default('16:9') }),
    kling26.extend({ start_image_url: address, end_image_url: address.nullish() }),
  ),
  ...family(
    '/fal-ai/kling-video/v3/pro',
    kling3.extend({ aspect_ratio: z.enum(['16:9', '9:16', '1:1']).default('16:9') }),
    kling3.extend({ start_image_url: address, end_image_url: address.nullish() }),
  ),
  ...['2.0', '2.5'].flatMap((version) =>
    family(`/bytedance/seedance-${version}`, seedance2, seedance2.extend({ image_url: address })),
  ),
  { path: '/fal-ai/flux/schnell', operation: 'image', input: flux },
  { path: '/fal-ai/paper-cut/v2', operation: 'image', input: paperCut },
  { path: '/fal-ai/flux/dev', operation: 'image', input: flux },
  { path: '/fal-ai/nano-banana', operation: 'image', input: nanoBanana },
  {
    path: '/fal-ai/nano-banana/edit',
    operation: 'image',
    input: nanoBanana.extend({
      image_urls: z.array(address).min(1).max(10),
      aspect_ratio: shapes.default('auto'),
    }),
  },
  {
    path: '/fal-ai/flux-pro/v1/fill',
    operation: 'image',
    input: z.looseObject({ prompt, image_url: address, mask_url: address, num_images: count, seed }),
  },
  {
    path: `${KLING}/text-to-video`,
    operation: 'video',
    input: kling.extend({ aspect_ratio: z.enum(['16:9', '9:16', '1:1']).default('16:9') }),
  },
  {
    path: `${KLING}/image-to-video`,
    operation: 'video',
    input: kling.extend({ image_url: address, tail_image_url: address.nullish() }),
  },
  {
    path: `${SEEDANCE}/text-to-video`,
    operation: 'video',
    input: seedance.extend({ aspect_ratio: seedanceShapes }),
  },
  {
    path: `${SEEDANCE}/image-to-video`,
    operation: 'video',
    input: seedance.extend({ image_url: address, end_image_url: address.nullish() }),
  },
];

/** The endpoint without its sub-path, as in the URLs of status and cancel. */
export function readApp(path: string): string {
  return path.split('/').slice(0, 3).join('/');
}
