import { encodeImage, encodePreview } from '../art/encode.ts';
import { paintImage } from '../art/painted-image.ts';
import { describeImage } from '../describe/describe.ts';
import { analyseMedia } from '../measure/analyse.ts';
import { probeMedia } from '../measure/probe.ts';
import { detectPerson } from '../people/detect-person.ts';
import { planPresenter, planVideo } from '../plan/plan.ts';
import { makePresenter } from '../presenter/presenter.ts';
import { makeSpeech } from '../speech/speech.ts';
import { makeThumbnail } from '../thumbnail/thumbnail.ts';
import { StudioError } from '../types/media-types.ts';
import { UnreadableImage, type StudioImage } from '../types/studio.ts';
import { makeVideo } from '../video/video.ts';
import { matchVoice } from '../voice/match-voice.ts';
import type { WorkerFailure, WorkerMessage, WorkerRequest } from './messages.ts';

/**
 * A rendering process. It runs one request per message and is killed to cancel it; it exits when its parent has ended.
 */
const say = (message: WorkerMessage) => process.send?.(message);

process.on('disconnect', () => process.exit(0));
process.on('message', (message) => void answer(message as WorkerRequest));
say({ kind: 'ready' });

async function answer(request: WorkerRequest): Promise<void> {
  try {
    const value = await runRequest(request, (percent, stage) => say({ kind: 'progress', percent, stage }));
    say({ kind: 'done', value, rssBytes: process.memoryUsage.rss() });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    say({ kind: 'failed', message, failure: toFailure(error) });
  }
}

function toFailure(error: unknown): WorkerFailure {
  if (error instanceof StudioError) return error.code;
  return error instanceof UnreadableImage ? 'UNREADABLE_IMAGE' : 'UNKNOWN';
}

type OnProgress = (percent: number, stage: string) => void;

/** Runs a request in a worker. */
async function runRequest(requested: WorkerRequest, onProgress: OnProgress): Promise<unknown> {
  switch (requested.kind) {
    case 'image':
      return makeImage(requested, onProgress);
    case 'describe':
      return describeImage(requested.image);
    case 'video':
      return makeVideo(await planVideo(requested.request, requested.size), onProgress);
    case 'speech':
      return makeSpeech(requested.request, onProgress);
    case 'presenter':
      return makePresenter(await planPresenter(requested.request, requested.size), onProgress);
    case 'detectPerson':
      return detectPerson(requested.media);
    case 'matchVoice':
      return matchVoice(requested.media);
    case 'analyse':
      return analyseMedia(requested.media);
    case 'thumbnail':
      return makeThumbnail(requested.media);
    case 'probe':
      return probeMedia(requested.media);
    default: // 'crash' is the only kind left
      return process.abort();
  }
}

async function makeImage(
  { request, width, height }: Extract<WorkerRequest, { kind: 'image' }>,
  onProgress: OnProgress,
): Promise<StudioImage> {
  const image = await paintImage(
    {
      prompt: request.prompt,
      seed: request.seed ?? null,
      width,
      height,
      references: request.references ?? [],
      hasCaption: request.hasCaption ?? true,
    },
    onProgress,
  );
  const format = request.format ?? 'png';
  return {
    bytes: await encodeImage(image, { prompt: request.prompt, format }),
    preview: await encodePreview(image),
    contentType: `image/${format}`,
    width,
    height,
    seed: image.seed,
  };
}
