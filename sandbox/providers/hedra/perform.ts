import type { Job, JobResult } from '../../jobs/job.ts';
import { StudioError } from '../../studio/types/media-types.ts';
import type { PresenterRequest } from '../../studio/types/media-types.ts';
import type { Studio } from '../../studio/types/studio.ts';
import { readText } from '../shared/inputs/text-of.ts';
import { inputImages } from '../shared/perform.ts';
import type { MediaTools } from '../shared/perform.ts';
import { INVALID } from './errors.ts';

/** Renders the talking picture, or speaks a text; a file needs no work. */
export async function perform(tools: MediaTools, job: Job, signal: AbortSignal): Promise<JobResult> {
  if (job.operation === 'file') return { files: [], texts: [], facts: {} };
  try {
    return await (job.operation === 'speech' ? speak(tools, job, signal) : animate(tools, job, signal));
  } catch (error) {
    if (!(error instanceof StudioError)) throw error;
    throw new Error(`${INVALID}${error.message}`, { cause: error });
  }
}

async function animate({ studio, journal }: MediaTools, job: Job, signal: AbortSignal): Promise<JobResult> {
  const { bytes, contentType, width, height, duration } = await studio.presenter(
    presenterRequest(studio, job, await inputImages(journal, job.input)),
    { signal },
  );
  const name = `${job.id}-0.mp4`;
  await journal.writeImage(name, bytes);
  signal.throwIfAborted();
  return { files: [{ name, contentType, width, height, duration }], texts: [], facts: {} };
}

async function speak({ studio, journal }: MediaTools, job: Job, signal: AbortSignal): Promise<JobResult> {
  const voice = findVoice(studio, job);
  const { bytes, contentType, duration } = await studio.speech(
    {
      text: readText(job.input['text']) ?? '',
      speed: Number(job.input['speed'] ?? 1),
      format: 'mp3',
      ...(voice !== undefined && { voice }),
    },
    { signal },
  );
  const name = `${job.id}-0.mp3`;
  await journal.writeImage(name, bytes);
  signal.throwIfAborted();
  return { files: [{ name, contentType, duration }], texts: [], facts: {} };
}

function findVoice(studio: Studio, { input }: Job) {
  return studio.voices().find(({ id }) => id === input['voice'])?.id;
}

function presenterRequest(studio: Studio, job: Job, [picture, audio]: readonly Buffer[]): PresenterRequest {
  const { input } = job;
  const text = readText(input['text']);
  const voice = findVoice(studio, job);
  const aspectRatio = readText(input['aspectRatio']);
  const resolution = readText(input['resolution']);
  return {
    prompt: readText(input['prompt']) ?? '',
    ...(picture !== undefined && { picture }),
    ...(audio !== undefined && { audio }),
    ...(text !== null && { text }),
    ...(voice !== undefined && { voice }),
    ...(aspectRatio !== null && { aspectRatio }),
    ...(resolution !== null && { resolution: Number.parseInt(resolution, 10) }),
  };
}
