import { z } from 'zod';

/** A model that this stand-in has, with the input schema that Replicate shows for it. */
export interface ReplicateModel {
  readonly name: string;
  /** How faults name a start. */
  readonly operation: 'image' | 'video';
  readonly input: z.ZodType<Record<string, unknown>>;
  /** Whether the output is a list of URLs or one URL. */
  readonly answersList: boolean;
  /** A model of the community, which is run by its version only. */
  readonly isOfCommunity?: boolean;
}

/** Fields that several models have. */
export const prompt = z.string().min(1);
export const address = z.string().regex(/^(data:|https?:\/\/)/, 'Does not match format uri');
export const seed = z.number().int().optional();
export const shapes = [
  '1:1',
  '16:9',
  '21:9',
  '3:2',
  '2:3',
  '4:5',
  '5:4',
  '3:4',
  '4:3',
  '9:16',
  '9:21',
] as const;

/** Models of 2025 and 2026, with the inputs that their pages show. */

const matching = z.enum([...shapes, 'match_input_image']).default('match_input_image');
const images = z.array(address).max(14).default([]);
const addresses = z.array(address).max(3).default([]);
const videoShapes = z.enum(['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', 'adaptive']).default('16:9');

function seedance(name: string, sizes: readonly ['480p', '720p', ...'1080p'[]]): ReplicateModel {
  return {
    name,
    operation: 'video',
    answersList: false,
    input: z.looseObject({
      prompt,
      image: address.optional(),
      last_frame_image: address.optional(),
      reference_images: z.array(address).max(9).default([]),
      reference_videos: addresses,
      reference_audios: addresses,
      duration: z.number().int().min(-1).max(15).default(5),
      resolution: z.enum(sizes).default('720p'),
      aspect_ratio: videoShapes,
      generate_audio: z.boolean().default(true),
      seed,
    }),
  };
}

function seedream(name: string, sizes: readonly ['2K', '3K' | '4K']): ReplicateModel {
  return {
    name,
    operation: 'image',
    answersList: true,
    input: z.looseObject({
      prompt,
      image_input: images,
      size: z.enum(sizes).default('2K'),
      aspect_ratio: matching,
      sequential_image_generation: z.enum(['disabled', 'auto']).default('disabled'),
      max_images: z.number().int().min(1).max(15).default(1),
      output_format: z.enum(['png', 'jpeg']).optional(),
    }),
  };
}

export const NEWER_MODELS: readonly ReplicateModel[] = [
  {
    name: 'google/nano-banana-pro',
    operation: 'image',
    answersList: false,
    input: z.looseObject({
      prompt,
      image_input: images,
      aspect_ratio: matching,
      resolution: z.enum(['1K', '2K', '4K']).default('2K'),
      output_format: z.enum(['jpg', 'png']).default('jpg'),
      safety_filter_level: z
        .enum(['block_low_and_above', 'block_medium_and_above', 'block_only_high'])
        .default('block_only_high'),
    }),
  },
  {
    name: 'openai/gpt-image-2.5-flare',
    operation: 'image',
    answersList: true,
    input: z.looseObject({
      prompt,
      input_images: z.array(address).max(10).default([]),
      aspect_ratio: z.enum(['auto', '1:1', '3:2', '2:3']).default('1:1'),
      number_of_images: z.number().int().min(1).max(10).default(1),
      quality: z.enum(['auto', 'low', 'medium', 'high', 'xhigh', 'max']).default('auto'),
      background: z.enum(['auto', 'transparent', 'opaque']).default('auto'),
      output_compression: z.number().int().min(0).max(100).default(90),
      output_format: z.enum(['webp', 'png', 'jpeg']).default('webp'),
      moderation: z.enum(['auto', 'low']).default('auto'),
      user_id: z.string().optional(),
    }),
  },
  seedream('bytedance/seedream-5-lite', ['2K', '3K']),
  seedream('bytedance/seedream-4.5', ['2K', '4K']),
  {
    name: 'google/veo-3.1',
    operation: 'video',
    answersList: false,
    input: z.looseObject({
      prompt,
      aspect_ratio: z.enum(['16:9', '9:16']).default('16:9'),
      duration: z.literal([4, 6, 8]).default(8),
      image: address.optional(),
      last_frame: address.optional(),
      reference_images: addresses,
      negative_prompt: z.string().optional(),
      resolution: z.enum(['720p', '1080p']).default('1080p'),
      generate_audio: z.boolean().default(true),
      seed,
    }),
  },
  seedance('bytedance/seedance-2.0', ['480p', '720p', '1080p']),
  seedance('bytedance/seedance-2.0-fast', ['480p', '720p']),
  {
    name: 'kwaivgi/kling-v3-video',
    operation: 'video',
    answersList: false,
    input: z.looseObject({
      prompt,
      negative_prompt: z.string().optional(),
      start_image: address.optional(),
      end_image: address.optional(),
      mode: z.enum(['standard', 'pro']).default('pro'),
      aspect_ratio: z.enum(['16:9', '9:16', '1:1']).default('16:9'),
      duration: z.number().int().min(3).max(15).default(5),
      generate_audio: z.boolean().default(false),
      multi_prompt: z.string().optional(),
    }),
  },
];
