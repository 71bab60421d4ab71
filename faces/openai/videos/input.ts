import { badInput } from '../../../platform/errors.ts';
import type { Json, JsonObject } from '../../../platform/json.ts';
import type { FaceModel } from '../documents/models.ts';
import type { VideoInput } from '../documents/video.ts';
import { findShape } from '../models/model.ts';
import { booleanIn, integerIn, neededText, numberIn, objectIn, textIn } from '../request/fields.ts';
import { withTypes } from '../request/form-fields.ts';
import { type BodyWithFiles, fileIn, type InputFile } from '../request/media.ts';
import type { FaceCall } from '../table/route.ts';

/** What a caller asks for, as the graph takes it. */
export interface ReadVideo {
  readonly input: VideoInput;
  readonly files: readonly InputFile[];
  readonly ignored: readonly string[];
}

/** Reads the fields of a video; what OpenAI has no words for is in `options`. */
export async function readVideo(
  call: FaceCall,
  { body, files }: BodyWithFiles,
  model: FaceModel,
): Promise<ReadVideo> {
  const { last_frame, references, negative_prompt, aspect_ratio, seed, generate_audio, ...rest } =
    objectIn(body, 'options') ?? {};
  const own = { last_frame, references, negative_prompt, aspect_ratio, seed, generate_audio } as JsonObject;
  const size = textIn(body, 'size');
  const shape = findShape(size, model);
  const seconds = numberIn(body, 'seconds');
  const frames = await readFrames(call, { body, files }, own);
  const optional = {
    ...shape,
    aspectRatio: textIn(own, 'aspect_ratio') ?? shape?.aspectRatio,
    negativePrompt: textIn(own, 'negative_prompt'),
    seed: integerIn(own, 'seed'),
    generateAudio: booleanIn(own, 'generate_audio'),
    duration: seconds,
    options: Object.keys(rest).length === 0 ? undefined : withTypes(rest, model.optionsSchema),
  };
  return {
    input: {
      generator: model.generator,
      model: model.model,
      prompt: neededText(body, 'prompt'),
      ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
      ...frames.input,
    },
    files: frames.files,
    ignored: shape === null ? ['size'] : [],
  };
}

/** The first frame, the last one, and images of what is to appear. */
async function readFrames(call: FaceCall, { body, files }: BodyWithFiles, own: JsonObject) {
  const optional = async (value: Json | undefined, field: string): Promise<InputFile | undefined> =>
    value === undefined || value === null ? undefined : fileIn(call, value, field);
  const first =
    files.get('input_reference')?.[0] ?? (await optional(body['input_reference'], 'input_reference'));
  const last = files.get('last_frame')?.[0] ?? (await optional(own['last_frame'], 'options.last_frame'));
  const references = [...(files.get('references') ?? [])];
  for (const value of listIn(own['references']))
    references.push(await fileIn(call, value, 'options.references'));
  const input = {
    ...(first !== undefined && { firstFrame: first.media }),
    ...(last !== undefined && { lastFrame: last.media }),
    ...(references.length > 0 && { references: references.map(({ media }) => media) }),
  };
  return { input, files: [first, last, ...references].filter((file) => file !== undefined) };
}

function listIn(value: Json | undefined): readonly Json[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value as readonly Json[];
  throw badInput('options.references', 'options.references must be a list of images');
}
