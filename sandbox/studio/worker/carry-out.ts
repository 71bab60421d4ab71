import { encodePicture, encodePreview } from '../art/encode.ts';
import { paintPicture } from '../art/picture.ts';
import { describePicture } from '../describe/describe.ts';
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

/** Does what a worker is asked. */
export async function carryOut(asked: WorkerRequest, onProgress: OnProgress): Promise<unknown> {
  switch (asked.kind) {
    case 'image':
      return makeImage(asked, onProgress);
    case 'describe':
      return describePicture(asked.picture);
    case 'video':
      return makeVideo(await planVideo(asked.request, asked.size), onProgress);
    case 'speech':
      return makeSpeech(asked.request, onProgress);
    case 'presenter':
      return makePresenter(await planPresenter(asked.request, asked.size), onProgress);
    case 'detectPerson':
      return detectPerson(asked.media);
    case 'matchVoice':
      return matchVoice(asked.media);
    case 'analyse':
      return analyseMedia(asked.media);
    case 'thumbnail':
      return makeThumbnail(asked.media);
    case 'probe':
      return probeMedia(asked.media);
    default: // 'crash', and nothing else: the types have no other kind left here
      return process.abort();
  }
}

async function makeImage(
  { request, width, height }: Extract<WorkerRequest, { kind: 'image' }>,
  onProgress: OnProgress,
): Promise<StudioImage> {
  const picture = await paintPicture(
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
    bytes: await encodePicture(picture, { prompt: request.prompt, format }),
    preview: await encodePreview(picture),
    contentType: `image/${format}`,
    width,
    height,
    seed: picture.seed,
  };
}
