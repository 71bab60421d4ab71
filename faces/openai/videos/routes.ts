import { AppError, badInput, notFound } from '../../../platform/errors.ts';
import { UploadFile } from '../../../rest-compat/documents/media/file.ts';
import { runDocument } from '../../../rest-compat/replies/results.ts';
import { fileAddress, readManageToken } from '../../shared/request.ts';
import { FaceModelByName, FaceModels } from '../documents/models.ts';
import { type FaceTask, FaceTaskById } from '../documents/task.ts';
import {
  FaceDeleteTask,
  FaceVideo,
  FaceVideoInput,
  FaceVideos,
  type VideoInput,
} from '../documents/video.ts';
import { textIn, readPage, readJson, neededText } from '../request/fields.ts';
import { identifyCall, readBody } from '../request/media.ts';
import type { FaceAnswer, FaceCall, FaceRoute } from '../table/route.ts';
import { nameIgnored, nameTask, readTask, startTask } from '../tasks/follow.ts';
import { readJoining } from '../tasks/joining.ts';
import { readVideo } from './input.ts';
import { toVideo } from './reply.ts';

/** Videos: started, asked for, listed, fetched and deleted by the id of their task. */
export const videoRoutes: readonly FaceRoute[] = [
  {
    method: 'POST',
    path: '/videos',
    summary: 'Starts a video, from words or from an image.',
    rateClass: 'start',
    documents: [FaceModels, FaceModelByName, FaceVideo, UploadFile],
    async run(call) {
      const read = await readBody(call);
      const model = await call.models.find('VIDEO', textIn(read.body, 'model'), call.context);
      const { input, files, ignored } = await readVideo(call, read, model);
      const name = `${model.generator}:${model.model}`;
      const content = identifyCall('video', read.body, { model: name, files });
      const task = await startTask(call, FaceVideo, { input, ...readJoining(call, content) });
      nameIgnored(call, ignored);
      return { body: toVideo(task) };
    },
  },
  {
    method: 'GET',
    path: '/videos',
    summary: "The caller's own videos, newest first.",
    rateClass: 'read',
    documents: [FaceVideos],
    async run(call) {
      const { tasks } = await runDocument(call, FaceVideos, readPage(call.query));
      const data = tasks.edges.map(({ node }) => toVideo(node));
      const ids = tasks.edges.map(({ node }) => node.id);
      const ends = { first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null };
      return { body: { object: 'list', data, ...ends, has_more: tasks.pageInfo.hasNextPage } };
    },
  },
  {
    method: 'GET',
    path: '/videos/{id}',
    summary: 'A video, or how far it is.',
    rateClass: 'status',
    documents: [FaceTaskById],
    run: async (call) => ({ body: toVideo(await readVideoTask(call)) }),
  },
  {
    method: 'DELETE',
    path: '/videos/{id}',
    summary: 'Deletes a video that has ended, and its files.',
    rateClass: 'write',
    documents: [FaceTaskById, FaceDeleteTask],
    async run(call) {
      const { id } = await readVideoTask(call);
      await runDocument(call, FaceDeleteTask, { id, manageToken: readManageToken(call.request) });
      return { body: { id, object: 'video.deleted', deleted: true } };
    },
  },
  {
    method: 'POST',
    path: '/videos/{id}/remix',
    summary: 'Starts a video like another one, by another prompt.',
    rateClass: 'start',
    documents: [FaceTaskById, FaceVideoInput, FaceVideo],
    run: async (call) => remixVideo(call, await readVideoTask(call)),
  },
  {
    method: 'GET',
    path: '/videos/{id}/content',
    summary: 'The film, a still of it, or images of it at even distances.',
    rateClass: 'read',
    documents: [FaceTaskById],
    run: serveContent,
  },
];

async function readVideoTask(call: FaceCall): Promise<FaceTask> {
  const id = call.pathParams['id'] ?? '';
  const task = await readTask(call, id);
  if (task.kind !== 'VIDEO' && task.kind !== 'FRAME_VIDEO') throw notFound('video', id);
  nameTask(call, task);
  return task;
}

/** 404 until it is ready, as clients poll for. */
async function serveContent(call: FaceCall): Promise<FaceAnswer> {
  const { query, request, response } = call;
  const task = await readVideoTask(call);
  const [film] = task.outputs;
  if (film === undefined) throw new AppError('NOT_FOUND', `the video is not ready: it is ${task.state}`);
  const variant = query.get('variant') ?? 'video';
  const urls = new Map<string, string | null>([
    ['video', film.url],
    ['thumbnail', film.thumbnail],
    ['spritesheet', film.spritesheet],
  ]);
  const url = urls.get(variant);
  if (url === undefined) throw badInput('variant', `variant must be one of ${[...urls.keys()].join(', ')}`);
  if (url === null) throw new AppError('NOT_FOUND', `there is no ${variant} of this video`);
  // The file's own answer: ranges, caching, and the store's address where it gives one out.
  request.url = fileAddress(url);
  await call.serveFile(request, response);
  return 'sent';
}

/** A video of the same model and inputs as another, by another prompt: no provider here changes a film itself. */

type SourceInput = NonNullable<Awaited<ReturnType<typeof readInput>>>;

/** Starts the video that `original` would have been by the prompt of the body. */
async function remixVideo(call: FaceCall, original: FaceTask): Promise<FaceAnswer> {
  const body = await readJson(call);
  const prompt = neededText(body, 'prompt');
  const isDone = original.kind === 'VIDEO' && original.state === 'SUCCEEDED';
  const source = isDone ? await readInput(call, original.id) : null;
  if (source === null)
    throw badInput('video_id', 'only a video of one’s own that is finished can be remixed');
  const input = toRemixInput(original, source, prompt);
  const content = identifyCall('video_remix', body, { model: original.id });
  const task = await startTask(call, FaceVideo, { input, ...readJoining(call, content) });
  return { body: { ...toVideo(task), remixed_from_video_id: original.id } };
}

async function readInput(call: FaceCall, id: string) {
  const { task } = await runDocument(call, FaceVideoInput, { id });
  return task?.input ?? null;
}

function toRemixInput(
  { generator }: FaceTask,
  { model, options, files }: SourceInput,
  prompt: string,
): VideoInput {
  const named = files.map(({ input, media, url }) => {
    if (media === null && url === null) throw badInput('video_id', `its ${input} was deleted`);
    return { input, file: media === null ? { url: url ?? '' } : { fileId: media.id } };
  });
  const findFile = (name: string) => named.find(({ input }) => input === name)?.file;
  const references = named.filter(({ input }) => input.startsWith('references')).map(({ file }) => file);
  const frames = {
    image: findFile('image'),
    firstFrame: findFile('firstFrame'),
    lastFrame: findFile('lastFrame'),
  };
  return {
    ...(options as object),
    ...Object.fromEntries(Object.entries(frames).filter(([, file]) => file !== undefined)),
    ...(references.length > 0 && { references }),
    ...(model !== null && { model }),
    generator,
    prompt,
  };
}
