import type { JsonObject } from '../../../platform/json.ts';
import type { Job, JobResult } from '../../jobs/job.ts';
import type { StudioVoiceId } from '../../studio/types/media-types.ts';
import type { ImageFormat, ImageRequest } from '../../studio/types/studio.ts';
import { readText } from '../shared/inputs.ts';
import { withMask } from '../shared/mask.ts';
import {
  describeImage,
  inputImages,
  isOfRequest,
  renderImage,
  type MediaTools,
  type Perform,
} from '../shared/perform.ts';
import { replyTo } from '../shared/rules/reply.ts';
import { INVALID } from './start.ts';

/** Runs a job of this wire. */
export const perform: Perform = async (tools, job, signal, onPreview) => {
  if (job.operation === 'file') return { files: [], texts: [], facts: {} };
  try {
    return await performCall(tools, job, signal, onPreview);
  } catch (error) {
    // A video tells it in its status.
    if (!isOfRequest(error) || job.operation === 'videos') throw error;
    throw new Error(`${INVALID}${error.message}`, { cause: error });
  }
};

const performCall: Perform = async (tools, job, signal, onPreview) => {
  const images = await inputImages(tools.journal, job.input);
  if (job.operation === 'chat') return answerChat(tools, job, images, signal);
  if (job.operation === 'speech') return performSpeech(tools, job, signal);
  if (job.operation === 'videos') return performVideo(tools, job, images[0], signal);
  const count = Number(job.input['n'] ?? 1);
  const mask = job.input['hasMask'] === true ? images.pop() : undefined;
  const masked = withMask(tools, { image: images[0], mask, marked: 'transparent' });
  const files: JobResult['files'][number][] = [];
  for (let index = 0; index < count; index += 1) {
    const request = imageRequest(job.input, index, images);
    const one = await renderImage(masked, { id: job.id, index, onPreview }, request, signal);
    files.push(...one.files);
  }
  return { files, texts: [], facts: {} };
};

async function answerChat(
  tools: MediaTools,
  { input }: Job,
  media: readonly Buffer[],
  signal: AbortSignal,
): Promise<JobResult> {
  const [first] = media;
  if (first !== undefined && input['isSound'] === true) {
    const { summary } = await tools.studio.analyse(first, { signal });
    return { files: [], texts: [summary], facts: {} };
  }
  if (first !== undefined) {
    const { texts, facts } = await describeImage(tools, input, signal);
    const caption = readText(facts['caption']) ?? '';
    return {
      files: [],
      texts: [`${caption} (measured by local-rules, nothing is recognised) ${texts[0] ?? ''}`],
      facts,
    };
  }
  const question = { system: readText(input['system']) ?? '', user: readText(input['prompt']) ?? '' };
  return { files: [], texts: [replyTo(question)], facts: {} };
}

const AUTO_SIZE = { width: 1_024, height: 1_024 };

function imageRequest(input: JsonObject, index: number, references: readonly Buffer[]): ImageRequest {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(readText(input['size']) ?? '') ?? [];
  const isExact = width !== undefined && height !== undefined;
  return {
    prompt: readText(input['prompt']) ?? '',
    format: (readText(input['format']) ?? 'png') as ImageFormat,
    size: isExact ? { width: Number(width), height: Number(height) } : AUTO_SIZE,
    references,
    ...(index === 0 ? {} : { seed: index }),
  };
}

async function performSpeech(
  { studio, journal }: MediaTools,
  { id, input }: Job,
  signal: AbortSignal,
): Promise<JobResult> {
  const { format: asked } = input;
  const format = asked === 'wav' || asked === 'flac' || asked === 'pcm' ? asked : 'mp3';
  const request = {
    text: readText(input['prompt']) ?? '',
    voice: input['voice'] as StudioVoiceId,
    speed: Number(input['speed'] ?? 1),
    format,
  } as const;
  const { bytes, contentType, duration } = await studio.speech(request, { signal });
  const name = `${id}.${format}`;
  await journal.writeImage(name, bytes);
  return { files: [{ name, contentType, duration }], texts: [], facts: {} };
}

async function performVideo(
  { studio, journal }: MediaTools,
  { id, input }: Job,
  firstFrame: Buffer | undefined,
  signal: AbortSignal,
): Promise<JobResult> {
  const [width = 1_280, height = 720] = (readText(input['size']) ?? '').split('x').map(Number);
  const video = await studio.video(
    {
      prompt: readText(input['prompt']) ?? '',
      aspectRatio: `${width}:${height}`,
      resolution: Math.min(width, height),
      durationSeconds: Number(input['seconds']),
      soundtrack: 'ambient',
      ...(firstFrame === undefined ? {} : { firstFrame }),
    },
    { signal },
  );
  const [name, poster] = [`${id}.mp4`, `${id}.jpg`];
  await journal.writeImage(poster, video.poster);
  await journal.writeImage(name, video.bytes);
  const { contentType, duration } = video;
  const size = { width: video.width, height: video.height };
  return {
    files: [
      { name, contentType, duration, ...size },
      { name: poster, contentType: 'image/jpeg', ...size },
    ],
    texts: [],
    facts: {},
  };
}
