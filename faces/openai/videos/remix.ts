import { badInput } from '../../../platform/errors.ts';
import { runDocument } from '../../../rest-compat/replies/results.ts';
import type { FaceTask } from '../documents/task.ts';
import { FaceVideo, FaceVideoInput, type VideoInput } from '../documents/video.ts';
import { readJson } from '../request/body.ts';
import { neededText } from '../request/fields.ts';
import { contentOf } from '../request/media.ts';
import type { FaceAnswer, FaceCall } from '../table/route.ts';
import { startTask } from '../tasks/follow.ts';
import { joiningOf } from '../tasks/joining.ts';
import { videoOf } from './reply.ts';

/** A video of the same model and inputs as another, by another prompt: no provider here changes a film itself. */

type Asked = NonNullable<Awaited<ReturnType<typeof askedFor>>>;

/** Starts the video that `original` would have been by the prompt of the body. */
export async function remixVideo(call: FaceCall, original: FaceTask): Promise<FaceAnswer> {
  const body = await readJson(call);
  const prompt = neededText(body, 'prompt');
  const isDone = original.kind === 'VIDEO' && original.state === 'SUCCEEDED';
  const asked = isDone ? await askedFor(call, original.id) : null;
  if (asked === null) throw badInput('video_id', 'only a video of one’s own that is finished can be remixed');
  const input = inputOf(original, asked, prompt);
  const content = contentOf('video_remix', body, { model: original.id });
  const task = await startTask(call, FaceVideo, { input, ...joiningOf(call, content) });
  return { body: { ...videoOf(task), remixed_from_video_id: original.id } };
}

async function askedFor(call: FaceCall, id: string) {
  const { task } = await runDocument(call, FaceVideoInput, { id });
  return task?.input ?? null;
}

function inputOf({ generator }: FaceTask, { model, options, files }: Asked, prompt: string): VideoInput {
  const named = files.map(({ input, media, url }) => {
    if (media === null && url === null) throw badInput('video_id', `its ${input} was deleted`);
    return { input, file: media === null ? { url: url ?? '' } : { fileId: media.id } };
  });
  const fileOf = (name: string) => named.find(({ input }) => input === name)?.file;
  const references = named.filter(({ input }) => input.startsWith('references')).map(({ file }) => file);
  const frames = { image: fileOf('image'), firstFrame: fileOf('firstFrame'), lastFrame: fileOf('lastFrame') };
  return {
    ...(options as object),
    ...Object.fromEntries(Object.entries(frames).filter(([, file]) => file !== undefined)),
    ...(references.length > 0 && { references }),
    ...(model !== null && { model }),
    generator,
    prompt,
  };
}
