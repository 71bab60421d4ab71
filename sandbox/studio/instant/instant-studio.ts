import { readFile } from 'node:fs/promises';
import path from 'node:path';

import sharp from 'sharp';

import { probeMedia } from '../measure/probe.ts';
import { detectPerson } from '../people/detect-person.ts';
import { checkPresenter, checkSpeech, checkVideo, planImage } from '../plan/plan.ts';
import { measureDuration } from '../sound/sound.ts';
import { readScript } from '../speech/script.ts';
import { plainSpeech } from '../speech/speech.ts';
import { VOICES } from '../speech/voices.ts';
import type {
  MatchedVoice,
  PresenterRequest,
  SpeechRequest,
  StudioPresenter,
  StudioSpeech,
  StudioThumbnail,
  StudioVideo,
  VideoRequest,
} from '../types/media-types.ts';
import { sizeFor } from '../types/size.ts';
import type { ImageFormat, ImageRequest, Studio, StudioImage } from '../types/studio.ts';

/**
 * A studio for tests with hundreds of concurrent tasks: one tiny plain image per aspect ratio and format, one small video,
 * one sentence. The prompt is ignored; limits, errors, `probe` and `detectPerson` are the real ones.
 */
export function createInstantStudio(): Studio {
  const made = new Map<string, Promise<StudioImage>>();
  return {
    async image(request) {
      planImage(request, 'small');
      const key = JSON.stringify([request.aspectRatio, request.size, request.format]);
      const image = made.get(key) ?? plainImage(request);
      if (made.size < MAX_KEPT) made.set(key, image);
      return image;
    },
    describe: () =>
      Promise.resolve({
        prompts: ['a plain image', 'a flat colour', 'a test card', 'nothing in particular'],
        caption: 'A plain image.',
        note: 'the instant studio does not look at images',
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

/** The media of the instant studio: prerendered files beside this one. */

/** As players report it, including the encoder's padding. */
const SPEECH_SECONDS = 1.332;

const load = (name: string) => readFile(path.join(import.meta.dirname, name));

/** A video of two seconds with sound, 128x72, for any valid request. */
async function instantVideo(request: VideoRequest): Promise<StudioVideo> {
  checkVideo(request);
  return clip(request.seed);
}

/** The same video for talking videos; an unspeakable text is refused. */
async function instantPresenter(request: PresenterRequest): Promise<StudioPresenter> {
  checkPresenter(request);
  if (request.text !== undefined) readScript(request.text);
  return {
    ...(await clip(request.seed)),
    redrawn: request.video === undefined,
    note: 'the instant studio shows the same video whoever talks',
  };
}

async function clip(seed = 0): Promise<StudioVideo> {
  return {
    bytes: await load('clip.mp4'),
    contentType: 'video/mp4',
    width: 128,
    height: 72,
    duration: 2.048,
    framesPerSecond: 12,
    hasSound: true,
    seed,
    poster: await load('poster.jpg'),
  };
}

/** "This is a test" as MP3, a tone as WAV; an unspeakable text is refused. */
async function instantSpeech(request: SpeechRequest): Promise<StudioSpeech> {
  checkSpeech(request);
  const { omitted } = readScript(request.text);
  const facts = { characters: Array.from(request.text).length, omitted: omitted === '' ? null : omitted };
  if (request.format !== 'mp3') {
    const tone = createTone();
    return { ...plainSpeech(tone, request.format), duration: measureDuration(tone), ...facts };
  }
  return { bytes: await load('speech.mp3'), contentType: 'audio/mpeg', duration: SPEECH_SECONDS, ...facts };
}

function createTone() {
  const sampleRate = 8_000;
  const samples = Float32Array.from(
    { length: sampleRate / 2 },
    (_value, index) => 0.3 * Math.sin((2 * Math.PI * 220 * index) / sampleRate),
  );
  return { samples, sampleRate };
}

/** The same voice for every sample. */
const INSTANT_VOICE: MatchedVoice = {
  baseVoice: 'slt',
  pitch: 167,
  pitchSpread: 20,
  formant: 1,
  tempo: 1,
  measured: {
    pitch: 167,
    pitchSpread: 0.17,
    formants: [490, 1_990, 2_990],
    syllableRate: 4.2,
    voicedShare: 0.5,
    duration: 1,
  },
};

/** The poster of the video, for every file. */
async function instantThumbnail(): Promise<StudioThumbnail> {
  return {
    bytes: await load('poster.jpg'),
    contentType: 'image/jpeg',
    width: 128,
    height: 72,
    source: 'image',
  };
}
