import { invalidInput } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input.ts';
import type { RequestOf, VideoRequest } from '../../domain/work/request.ts';

/**
 * The inputs of the models at Replicate: each has its own input schema. A model that is not named here (a generators
 * file may name any, also by its version) gets the fields that most have.
 */

/** Uploads a file and returns its URL. */
export type AddressOfInput = (file: InputFile, field: string) => Promise<string>;

interface ImageModel {
  /** Field of the input images, and whether it takes several; null when it takes none. */
  readonly pictures: { readonly field: string; readonly areMany: boolean } | null;
  /** Field of the number of images; null when it makes one. */
  readonly count: string | null;
}

interface VideoModel {
  readonly first: string;
  readonly last: string;
}

const ANY_IMAGE: ImageModel = { pictures: { field: 'image', areMany: false }, count: 'num_outputs' };
const IMAGES: Readonly<Record<string, ImageModel>> = {
  'black-forest-labs/flux-schnell': { pictures: null, count: 'num_outputs' },
  'black-forest-labs/flux-kontext-pro': { pictures: { field: 'input_image', areMany: false }, count: null },
  'black-forest-labs/flux-fill-pro': { pictures: { field: 'image', areMany: false }, count: null },
  'google/nano-banana': { pictures: { field: 'image_input', areMany: true }, count: null },
};
const ANY_VIDEO: VideoModel = { first: 'image', last: 'last_frame_image' };
const VIDEOS: Readonly<Record<string, VideoModel>> = {
  'kwaivgi/kling-v2.5-turbo-pro': { first: 'start_image', last: 'end_image' },
};

/** The models unless the binding names one. */
export const DEFAULT_MODELS = {
  IMAGE: 'black-forest-labs/flux-schnell',
  VIDEO: 'bytedance/seedance-1-lite',
} as const;

/** The input of an image request. Throws INVALID_INPUT for fields the model lacks. */
export async function imageInput(
  model: string,
  request: RequestOf<'IMAGE'>,
  addressOf: AddressOfInput,
): Promise<Record<string, unknown>> {
  const { pictures, count } = IMAGES[model] ?? ANY_IMAGE;
  const { prompt, images = [], mask, aspectRatio, seed } = request;
  if (images.length > 0 && pictures === null) throw invalidInput('images', 'this model takes no pictures');
  if ((request.count ?? 1) > 1 && count === null) throw invalidInput('count', 'this model makes one picture');
  const addresses: string[] = [];
  for (const image of images) addresses.push(await addressOf(image, 'images'));
  return {
    prompt,
    aspect_ratio: aspectRatio,
    ...(count !== null && { [count]: request.count }),
    seed,
    ...(pictures !== null &&
      addresses.length > 0 && { [pictures.field]: pictures.areMany ? addresses : addresses[0] }),
    ...(mask !== undefined && { mask: await addressOf(mask, 'mask') }),
  };
}

/** The input of a video request. */
export async function videoInput(
  model: string,
  request: VideoRequest,
  addressOf: AddressOfInput,
): Promise<Record<string, unknown>> {
  const { first, last } = VIDEOS[model] ?? ANY_VIDEO;
  const { prompt, negativePrompt, firstFrame, lastFrame, aspectRatio, resolution, duration, seed } = request;
  const references: string[] = [];
  for (const file of request.references ?? []) references.push(await addressOf(file, 'references'));
  if (prompt === undefined)
    throw invalidInput('prompt', 'this model makes videos from words, with or without a picture');
  if (lastFrame !== undefined && firstFrame === undefined)
    throw invalidInput('firstFrame', 'a last frame needs a first one');
  return {
    prompt,
    negative_prompt: negativePrompt,
    // With an image input, the aspect ratio is the image's.
    aspect_ratio: firstFrame === undefined ? aspectRatio : undefined,
    resolution,
    duration,
    seed,
    ...(references.length > 0 && { reference_images: references }),
    [first]: firstFrame && (await addressOf(firstFrame, 'firstFrame')),
    [last]: lastFrame && (await addressOf(lastFrame, 'lastFrame')),
  };
}
