import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { checkPresenter, checkSpeech, checkVideo } from '../plan/plan.ts';
import { measureDuration } from '../sound/sound.ts';
import { readScript } from '../speech/script.ts';
import { plainSpeech } from '../speech/speech.ts';
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

/** The media of the instant studio: prerendered files beside this one. */

/** As players report it, including the encoder's padding. */
const SPEECH_SECONDS = 1.332;

const load = (name: string) => readFile(path.join(import.meta.dirname, name));

/** A video of two seconds with sound, 128x72, for any valid request. */
export async function instantVideo(request: VideoRequest): Promise<StudioVideo> {
  checkVideo(request);
  return clip(request.seed);
}

/** The same video for talking videos; an unspeakable text is refused. */
export async function instantPresenter(request: PresenterRequest): Promise<StudioPresenter> {
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
export async function instantSpeech(request: SpeechRequest): Promise<StudioSpeech> {
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
export const INSTANT_VOICE: MatchedVoice = {
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
export async function instantThumbnail(): Promise<StudioThumbnail> {
  return {
    bytes: await load('poster.jpg'),
    contentType: 'image/jpeg',
    width: 128,
    height: 72,
    source: 'picture',
  };
}
