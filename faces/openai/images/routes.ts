import { badInput } from '../../../platform/errors.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { TaskEvents } from '../../../rest-compat/documents/media/task.ts';
import { FaceImage, type ImageInput } from '../documents/image.ts';
import { FaceModels } from '../documents/models.ts';
import { FaceCancelTask, FaceTaskById } from '../documents/task.ts';
import { readJson } from '../request/body.ts';
import { booleanIn, textIn, wordIn } from '../request/fields.ts';
import type { FaceAnswer, FaceCall, FaceRoute } from '../route.ts';
import { finished, nameTask, readTask, startTask, wantsAsync } from '../tasks/follow.ts';
import { joiningOf } from '../tasks/joining.ts';
import { readImage, type ReadImage } from './input.ts';
import { pictureAnswer, pictureEvents, type PictureFormat } from './reply.ts';

const documents = [FaceModels, FaceImage, TaskEvents, FaceTaskById, FaceCancelTask];

/** Pictures: made from words, and asked for again by the id of their task. */
export const imageRoutes: readonly FaceRoute[] = [
  {
    method: 'POST',
    path: '/images/generations',
    summary: 'Makes pictures from a prompt.',
    rateClass: 'start',
    documents,
    async run(call) {
      const body = await readJson(call.request);
      const model = await call.models.find('IMAGE', textIn(body, 'model'), call.context);
      return makePictures(call, { body, read: readImage(body, model), kind: 'image_generation' });
    },
  },
  {
    method: 'GET',
    path: '/images/generations/{id}',
    summary: 'The pictures of a task, or how far it is.',
    rateClass: 'status',
    documents: [FaceTaskById],
    async run(call) {
      const format = formatOf({ response_format: call.query.get('response_format') });
      const task = await readTask(call, call.pathParams['id'] ?? '');
      nameTask(call, task);
      return pictureAnswer(call, task, format);
    },
  },
];

/** Starts a task of pictures, and answers it as the caller wants. */
async function makePictures(
  call: FaceCall,
  {
    body,
    read: { input, ignored },
    kind,
  }: {
    readonly body: JsonObject;
    readonly read: ReadImage;
    readonly kind: 'image_generation' | 'image_edit';
  },
): Promise<FaceAnswer> {
  const format = formatOf(body);
  const isStream = booleanIn(body, 'stream') === true;
  const isAsync = wantsAsync(call, booleanIn(body, 'async'));
  const task = await startTask(call, FaceImage, { input, ...joiningOf(call, contentOf(kind, body, input)) });
  if (ignored.length > 0) call.response.setHeader('X-Ignored-Fields', ignored.join(', '));
  if (isStream && !isAsync) return { events: pictureEvents(call, kind, () => ended(call, task)) };
  return pictureAnswer(call, await finished(call, task, isAsync), format);
}

/** A stream says nothing of work that goes on: its caller is told where to ask. */
async function ended(call: FaceCall, started: Parameters<typeof finished>[1]) {
  const task = await finished(call, started, false);
  if (task.state === 'SUCCEEDED') return task;
  throw badInput('stream', `the work goes on: ask GET ${call.settings.prefix}/images/generations/${task.id}`);
}

/** What makes two calls the same: all that was sent, but how it is answered. */
function contentOf(kind: string, body: JsonObject, input: ImageInput): object {
  const {
    stream: _stream,
    async: _async,
    response_format: _format,
    user: _user,
    image: _image,
    ...rest
  } = body;
  return { kind, rest, input };
}

function formatOf(body: JsonObject): PictureFormat {
  return wordIn(body, 'response_format', ['b64_json', 'url'] as const) ?? 'b64_json';
}
