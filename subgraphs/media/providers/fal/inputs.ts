import { invalidInput } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input.ts';
import type { RequestOf, VideoRequest } from '../../domain/work/request.ts';

/**
 * The inputs of the models behind fal's queue: every endpoint has its own fields. A model that is not named here (a
 * generators file may name any endpoint) gets the fields that most have.
 */

/** Uploads a file and returns its URL. */
export type AddressOfInput = (file: InputFile, field: string) => Promise<string>;

/** One submission: endpoint and input. */
export interface FalCall {
  readonly endpoint: string;
  readonly input: Readonly<Record<string, unknown>>;
}

interface ImageModel {
  /** The field for the aspect ratio of its images. */
  readonly shape: 'image_size' | 'aspect_ratio';
  /** Its endpoint for image inputs, and the field for them. */
  readonly edit: { readonly path: string; readonly field: 'image_url' | 'image_urls' };
}

interface VideoModel {
  /** Whether text and image inputs have separate endpoints below the name. */
  readonly isFamily: boolean;
  /** Field of the last frame. */
  readonly last: 'tail_image_url' | 'end_image_url';
}

const ANY_IMAGE: ImageModel = { shape: 'image_size', edit: { path: '', field: 'image_url' } };
const IMAGES: Readonly<Record<string, ImageModel>> = {
  'fal-ai/nano-banana': { shape: 'aspect_ratio', edit: { path: '/edit', field: 'image_urls' } },
};
const ANY_VIDEO: VideoModel = { isFamily: false, last: 'end_image_url' };
const VIDEOS: Readonly<Record<string, VideoModel>> = {
  'fal-ai/kling-video/v2.5-turbo/pro': { isFamily: true, last: 'tail_image_url' },
  'fal-ai/bytedance/seedance/v1/lite': { isFamily: true, last: 'end_image_url' },
};

const DEFAULT_IMAGE = 'fal-ai/flux/schnell';
const DEFAULT_VIDEO = 'fal-ai/kling-video/v2.5-turbo/pro';

const SIZES: Readonly<Record<string, string>> = {
  '1:1': 'square_hd',
  '4:3': 'landscape_4_3',
  '3:4': 'portrait_4_3',
  '16:9': 'landscape_16_9',
  '9:16': 'portrait_16_9',
};

type ImageRequest = RequestOf<'IMAGE'>;

/**
 * An image request for this model, null for the default one. Throws INVALID_INPUT for an aspect ratio that it lacks.
 */
export async function imageCall(
  model: string | null,
  request: ImageRequest,
  addressOf: AddressOfInput,
): Promise<FalCall> {
  const name = model ?? DEFAULT_IMAGE;
  const { shape, edit } = IMAGES[name] ?? ANY_IMAGE;
  const { prompt, images = [], mask, count, seed, aspectRatio } = request;
  const addresses: string[] = [];
  for (const image of images) addresses.push(await addressOf(image, 'images'));
  const pictures = edit.field === 'image_urls' ? addresses : addresses[0];
  return {
    endpoint: `${name}${images.length > 0 ? edit.path : ''}`,
    input: {
      prompt,
      ...(shape === 'image_size' ? imageSize(request) : { aspect_ratio: aspectRatio }),
      num_images: count,
      seed,
      ...(images.length > 0 && { [edit.field]: pictures }),
      ...(mask !== undefined && { mask_url: await addressOf(mask, 'mask') }),
    },
  };
}

/** An exact size wins over an aspect ratio; the wire has names for five ratios. */
function imageSize({ resolution, aspectRatio }: ImageRequest): Record<string, unknown> {
  const [, width, height] = /^(\d{2,4})x(\d{2,4})$/.exec(resolution ?? '') ?? [];
  if (width !== undefined && height !== undefined) {
    return { image_size: { width: Number(width), height: Number(height) } };
  }
  if (aspectRatio === undefined) return {};
  const size = SIZES[aspectRatio];
  if (size === undefined) throw invalidInput('aspectRatio', `takes one of ${Object.keys(SIZES).join(', ')}`);
  return { image_size: size };
}

/** A video request for this model, null for the default one. */
export async function videoCall(
  model: string | null,
  request: VideoRequest,
  addressOf: AddressOfInput,
): Promise<FalCall> {
  const name = model ?? DEFAULT_VIDEO;
  const { isFamily, last } = VIDEOS[name] ?? ANY_VIDEO;
  const { prompt, firstFrame, lastFrame } = request;
  if (prompt === undefined)
    throw invalidInput('prompt', 'this model makes videos from words, with or without a picture');
  if (lastFrame !== undefined && firstFrame === undefined)
    throw invalidInput('firstFrame', 'a last frame needs a first one');
  const variant = firstFrame === undefined ? '/text-to-video' : '/image-to-video';
  return {
    endpoint: `${name}${isFamily ? variant : ''}`,
    input: {
      prompt,
      ...videoSettings(request),
      image_url: firstFrame && (await addressOf(firstFrame, 'firstFrame')),
      [last]: lastFrame && (await addressOf(lastFrame, 'lastFrame')),
    },
  };
}

function videoSettings(request: VideoRequest): Record<string, unknown> {
  const { negativePrompt, firstFrame, aspectRatio, resolution, duration, seed } = request;
  return {
    negative_prompt: negativePrompt,
    // With an image input, the aspect ratio is the image's.
    aspect_ratio: firstFrame === undefined ? aspectRatio : undefined,
    resolution,
    // The wire expects the seconds as a string.
    duration: duration?.toString(),
    seed,
  };
}
