import sharp from 'sharp';

import { probeMedia } from '../measure/probe.ts';
import { detectPerson } from '../people/detect-person.ts';
import { VOICES } from '../speech/voices.ts';
import { sizeFor } from '../types/size.ts';
import type { ImageFormat, ImageRequest, Studio, StudioImage } from '../types/studio.ts';
import {
  INSTANT_VOICE,
  instantPresenter,
  instantSpeech,
  instantThumbnail,
  instantVideo,
} from './instant-media.ts';

/**
 * A studio for tests with hundreds of concurrent tasks: one tiny plain picture per aspect ratio and format, one small video,
 * one sentence. The prompt is ignored; limits, errors, `probe` and `detectPerson` are the real ones.
 */
export function createInstantStudio(): Studio {
  const made = new Map<string, Promise<StudioImage>>();
  return {
    image(request) {
      const key = JSON.stringify([request.aspectRatio, request.size, request.format]);
      const image = made.get(key) ?? plainImage(request);
      if (made.size < MAX_KEPT) made.set(key, image);
      return image;
    },
    describe: () =>
      Promise.resolve({
        prompts: ['a plain picture', 'a flat colour', 'a test card', 'nothing in particular'],
        caption: 'A plain picture.',
        note: 'the instant studio does not look at pictures',
        width: 1,
        height: 1,
        format: 'png',
        palette: [],
      }),
    video: instantVideo,
    speech: instantSpeech,
    voices: () => VOICES,
    matchVoice: () => Promise.resolve(INSTANT_VOICE),
    presenter: instantPresenter,
    detectPerson,
    probe: probeMedia,
    async analyse(media) {
      const facts = await probeMedia(media);
      return { facts, summary: `A file of ${facts.contentType}; the instant studio looks no further.` };
    },
    thumbnail: instantThumbnail,
    close: () => Promise.resolve(),
  };
}

const MAX_KEPT = 32;
const LONG_EDGE = 64;

async function plainImage(request: ImageRequest): Promise<StudioImage> {
  const format: ImageFormat = request.format ?? 'png';
  const size = request.size ?? sizeFor(request.aspectRatio, LONG_EDGE);
  const plain = () => sharp({ create: { ...size, channels: 3, background: { r: 90, g: 120, b: 200 } } });
  return {
    bytes: await plain().toFormat(format).toBuffer(),
    contentType: `image/${format}`,
    ...size,
    seed: 0,
    preview: await plain().webp().toBuffer(),
  };
}
