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
import type { StudioImage } from '../types/studio.ts';
import { makeVideo } from '../video/video.ts';
import { matchVoice } from '../voice/match-voice.ts';
import type { WorkerRequest } from './messages.ts';

type OnProgress = (percent: number, stage: string) => void;

/** Runs a request in a worker. */
export async function runRequest(requested: WorkerRequest, onProgress: OnProgress): Promise<unknown> {
  switch (requested.kind) {
    case 'image':
      return makeImage(requested, onProgress);
    case 'describe':
      return describeImage(requested.picture);
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
  const picture = await paintImage(
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
    bytes: await encodeImage(picture, { prompt: request.prompt, format }),
    preview: await encodePreview(picture),
    contentType: `image/${format}`,
    width,
    height,
    seed: picture.seed,
  };
}
