import { AppError, badInput } from '../../../platform/errors.ts';
import type { Json, JsonObject } from '../../../platform/json.ts';
import { UploadFile } from '../../../rest-compat/documents/media/file.ts';
import { CancelTask, TaskEvents } from '../../../rest-compat/documents/media/task.ts';
import { reserveStream } from '../answers/send.ts';
import { type FaceModel, FaceModelByName, FaceModels } from '../documents/models.ts';
import { FaceGraph, FaceGraphs, FaceImage } from '../documents/starts.ts';
import { type FaceTask, FaceTaskById } from '../documents/task.ts';
import { readJson, booleanIn, textIn, wordIn } from '../request/fields.ts';
import { type BodyWithFiles, identifyCall, fileIn, type InputFile, readBody } from '../request/media.ts';
import type { FaceAnswer, FaceCall, FaceRoute } from '../table/route.ts';
import {
  enforceWait,
  finished,
  nameIgnored,
  nameTask,
  readTask,
  startTask,
  wantsAsync,
} from '../tasks/follow.ts';
import { readJoining } from '../tasks/joining.ts';
import { readImage } from './input.ts';
import { imageAnswer, imageEvents, type ImageFormat } from './reply.ts';
import { namesWorkflow, startWorkflow } from './workflows.ts';

const documents = [
  FaceModels,
  FaceModelByName,
  FaceImage,
  FaceGraph,
  FaceGraphs,
  TaskEvents,
  FaceTaskById,
  CancelTask,
];

/** Images: made from words or from images, and asked for again by the id of their task. */
export const imageRoutes: readonly FaceRoute[] = [
  {
    method: 'POST',
    path: '/images/generations',
    summary: 'Makes images from a prompt.',
    rateClass: 'start',
    documents,
    async run(call) {
      const body = await readJson(call);
      if (namesWorkflow(body)) return makeImages(call, { body, kind: 'image_generation' });
      const model = await call.models.find('IMAGE', textIn(body, 'model'), call.context);
      return makeImages(call, { body, model, kind: 'image_generation' });
    },
  },
  {
    method: 'POST',
    path: '/images/edits',
    summary: 'Makes images from images and a prompt, whole or where a mask says.',
    rateClass: 'start',
    documents: [...documents, UploadFile],
    async run(call) {
      const read = await readBody(call);
      if (namesWorkflow(read.body)) {
        return makeImages(call, { body: read.body, kind: 'image_edit', ...(await readSources(call, read)) });
      }
      const model = await call.models.find('IMAGE', textIn(read.body, 'model'), call.context);
      if (!model.inputs.includes('images')) {
        throw badInput('image', `the model ${model.model} makes images from words alone`);
      }
      const { images, mask } = await readSources(call, read);
      return makeImages(call, { body: read.body, model, kind: 'image_edit', images, mask });
    },
  },
  {
    method: 'GET',
    path: '/images/generations/{id}',
    summary: 'The images of a task, or how far it is.',
    rateClass: 'status',
    documents: [FaceTaskById],
    async run(call) {
      const format = readFormat({ response_format: call.query.get('response_format') });
      const task = await readTask(call, call.pathParams['id'] ?? '');
      nameTask(call, task);
      return imageAnswer(call, task, format);
    },
  },
];

interface Images {
  readonly body: JsonObject;
  /** Absent: the body names a ComfyUI graph. */
  readonly model?: FaceModel;
  readonly kind: 'image_generation' | 'image_edit';
  readonly images?: readonly InputFile[];
  readonly mask?: InputFile | undefined;
}

/** Starts a task of images, and answers it as the caller wants. */
async function makeImages(call: FaceCall, request: Images): Promise<FaceAnswer> {
  const { body, kind } = request;
  const format = readFormat(body);
  const isAsync = wantsAsync(call, booleanIn(body, 'async'));
  if (!isAsync) enforceWait(call);
  const permit = booleanIn(body, 'stream') === true && !isAsync ? reserveStream(call.context) : null;
  const { task, ignored } = await begin(call, request, permit !== null);
  nameIgnored(call, ignored);
  if (permit !== null) return { permit, events: imageEvents(call, kind, (show) => ended(call, task, show)) };
  return imageAnswer(call, await finished(call, task, isAsync), format);
}

/** Starts it: by a model of images, or as a graph. */
async function begin(call: FaceCall, request: Images, isStream: boolean) {
  const { body, model, kind, images = [], mask } = request;
  if (model === undefined) return startWorkflow(call, { body, kind, images, mask });
  const { input, ignored } = readImage(body, model, isStream);
  const files = mask === undefined ? images : [...images, mask];
  const task = await startTask(call, FaceImage, {
    input: {
      ...input,
      ...(images.length > 0 && { images: images.map(({ media }) => media) }),
      ...(mask !== undefined && { mask: mask.media }),
    },
    ...readJoining(call, identifyCall(kind, body, { model: `${model.generator}:${model.model}`, files })),
  });
  return { task, ignored };
}

/** The images of an edit: parts of a form, or `images` (also `image`) of JSON. */
async function readSources(call: FaceCall, { body, files }: BodyWithFiles) {
  const sent = body['images'] ?? body['image'] ?? [];
  const named: readonly Json[] = Array.isArray(sent) ? sent : [sent];
  const images = [...(files.get('image') ?? [])];
  for (const [index, value] of named.entries()) images.push(await fileIn(call, value, `images[${index}]`));
  if (images.length === 0) throw badInput('image', "Missing required parameter: 'image'.");
  const mask = body['mask'] ?? null;
  return {
    images,
    mask: files.get('mask')?.[0] ?? (mask === null ? undefined : await fileIn(call, mask, 'mask')),
  };
}

/** A stream has no 202: its caller is told where to ask. */
async function ended(call: FaceCall, started: FaceTask, show: (preview: string) => void): Promise<FaceTask> {
  const task = await finished(call, started, false, ({ stageInfo: { preview } }) => {
    if (preview !== null) show(preview.url);
  });
  if (task.state === 'SUCCEEDED') return task;
  const where = `${call.settings.prefix}/images/generations/${task.id}`;
  throw new AppError('UNAVAILABLE', `the work goes on: ask GET ${where}`);
}

function readFormat(body: JsonObject): ImageFormat {
  return wordIn(body, 'response_format', ['b64_json', 'url'] as const) ?? 'b64_json';
}
