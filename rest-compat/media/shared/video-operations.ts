import { GenerateVideo, type VideoInput } from '../../documents/media/start.ts';
import type { Values } from '../../route/param.ts';
import { file, form } from '../../route/params.ts';
import type { Route } from '../../route/route.ts';
import {
  extension,
  toMediaInput,
  multipart,
  oneImage,
  optional,
  imageInputFields,
  vendorOptions,
} from './inputs.ts';
import { submission, synchronous } from './start-operations.ts';

/** The operations that all video generators have in common. */

/** What to make of the prompt and the image. */
export const videoOptions = {
  model: form.text(optional),
  negative_prompt: form.text(optional),
  ar: form.text(optional),
  duration: form.integer(optional),
  resolution: form.text(optional),
  seed: form.integer(optional),
  generate_audio: form.boolean(extension),
  reference_urls: form.urls(extension),
  ...vendorOptions,
};

const videoFields = { prompt: form.text(), ...imageInputFields, ...videoOptions };

/** The image that a video ends with. */
const lastImage = { tail_img_file: file(optional), tail_img_url: form.url(optional) };
const videoAndLastFields = { ...videoFields, ...lastImage };

/** The typed fields of a video request. */
export type VideoFields = Pick<Values<typeof videoFields>, 'prompt'> & Partial<Values<typeof videoFields>>;

/** A video request as the schema takes it. */
export function videoInput(
  generator: string,
  { prompt, img_file, img_url, negative_prompt, ar, ...fields }: VideoFields,
): VideoInput {
  const { model, resolution, duration, seed, generate_audio, reference_urls, options } = fields;
  return {
    generator,
    prompt,
    negativePrompt: negative_prompt,
    image: toMediaInput(img_file, img_url),
    aspectRatio: ar,
    model,
    resolution,
    duration,
    seed,
    generateAudio: generate_audio,
    references: reference_urls?.map((url) => ({ url })),
    options,
  };
}

interface VideoOperation {
  readonly path: string;
  readonly generator: string;
  /** Whether there must be an image. */
  readonly needsImage?: true;
}

/** What both ways to start a video between two images have, each image as a file or as a link. */
function withLastImage({ path, generator }: VideoOperation) {
  return {
    path,
    params: videoAndLastFields,
    body: { ...multipart, atMostOneOf: [oneImage, ['tail_img_file', 'tail_img_url']] },
    variables: (fields: Values<typeof videoAndLastFields>) => ({
      input: {
        ...videoInput(generator, fields),
        lastFrame: toMediaInput(fields.tail_img_file, fields.tail_img_url),
      },
    }),
  };
}

/** Starts a video that may end with an image of its own, and replies the task's id. */
export function submitVideoWithLast(options: VideoOperation): Route {
  return submission(GenerateVideo)(withLastImage(options));
}

/** The same, and waits for the video. */
export function waitForVideoWithLast(options: VideoOperation): Route {
  return synchronous(GenerateVideo)(withLastImage(options));
}

function describeOperation({ path, generator, needsImage }: VideoOperation) {
  const groups = [oneImage];
  return {
    path,
    params: videoFields,
    body: { ...multipart, ...(needsImage === true ? { oneOf: groups } : { atMostOneOf: groups }) },
    variables: (fields: VideoFields) => ({ input: videoInput(generator, fields) }),
  };
}

/** Starts a video of a text and perhaps an image, and replies the task's id. */
export function submitVideo(options: VideoOperation): Route {
  return submission(GenerateVideo)(describeOperation(options));
}

/** The same, and waits for the video. */
export function waitForVideo(options: VideoOperation): Route {
  return synchronous(GenerateVideo)(describeOperation(options));
}
