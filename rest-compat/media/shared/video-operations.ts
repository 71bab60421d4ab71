import { GenerateVideo, type VideoInput } from '../../documents/media/start.ts';
import { submitted, taskReply } from '../../replies/task.ts';
import { form, type UploadedFile } from '../../route/params.ts';
import { route, type Route } from '../../route/route.ts';
import { inputOf, multipart, optional, pictureFields } from './inputs.ts';

/** The operations that all video generators have alike. */

/** What to make of the prompt and the picture. */
export const videoOptions = {
  model: form.text(optional),
  negative_prompt: form.text(optional),
  ar: form.text(optional),
  duration: form.integer(optional),
  resolution: form.text(optional),
  seed: form.integer(optional),
};

const videoFields = { prompt: form.text(), ...pictureFields, ...videoOptions };

/** The typed fields of a video request. */
export interface VideoFields {
  readonly prompt: string;
  readonly img_file?: UploadedFile | undefined;
  readonly img_url?: string | undefined;
  readonly model?: string | undefined;
  readonly negative_prompt?: string | undefined;
  readonly ar?: string | undefined;
  readonly duration?: number | undefined;
  readonly resolution?: string | undefined;
  readonly seed?: number | undefined;
}

/** A video request as the schema takes it. */
export function videoInput(generator: string, fields: VideoFields): VideoInput {
  return {
    generator,
    model: fields.model,
    prompt: fields.prompt,
    negativePrompt: fields.negative_prompt,
    image: inputOf(fields.img_file, fields.img_url),
    aspectRatio: fields.ar,
    resolution: fields.resolution,
    duration: fields.duration,
    seed: fields.seed,
  };
}

/** Of a picture's file and its link one is used. */
export const onePicture = ['img_file', 'img_url'] as const;

interface VideoOperation {
  readonly path: string;
  readonly generator: string;
  /** Whether there must be a picture. */
  readonly needsPicture?: true;
}

function specOf({ path, generator, needsPicture }: VideoOperation) {
  const groups = [onePicture];
  return {
    method: 'POST',
    path,
    params: videoFields,
    body: { ...multipart, ...(needsPicture === true ? { oneOf: groups } : { atMostOneOf: groups }) },
    rateClass: 'start',
    variables: (fields: VideoFields) => ({ input: videoInput(generator, fields) }),
  } as const;
}

/** Starts a video of a text and perhaps a picture, and answers the task's id. */
export function submitVideo(options: VideoOperation): Route {
  return route(GenerateVideo)({
    ...specOf(options),
    answers: 'Submission',
    reply: ({ generateVideo }) => submitted(generateVideo),
  });
}

/** The same, and waits for the video. */
export function waitForVideo(options: VideoOperation): Route {
  return route(GenerateVideo)({
    ...specOf(options),
    wait: { task: 'generateVideo' },
    answers: 'MediaTask',
    reply: ({ generateVideo }) => taskReply(generateVideo),
  });
}
