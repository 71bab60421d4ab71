import { setImmediate as breathe } from 'node:timers/promises';

import encoders from 'h264-mp4-encoder';
import sharp, { type Sharp } from 'sharp';

import { fileDuration } from '../measure/probe.ts';
import type { Sound } from '../sound/sound.ts';
import type { StudioVideo } from '../types/media-types.ts';
import type { Size } from '../types/size.ts';
import type { FrameRenderer, AsyncFrameRenderer } from './frame-renderer.ts';
import { writeEncodedMp4 } from './mp4.ts';
import { frameBytes, toRgb } from './yuv.ts';

/** Everything that a video is made of. */
export interface Production {
  readonly renderer: FrameRenderer | AsyncFrameRenderer;
  readonly size: Size;
  readonly framesPerSecond: number;
  readonly frames: number;
  /** As long as the video; null for a silent one. */
  readonly sound: Sound | null;
  /** Of any length; truncated in the file. */
  readonly title: string;
  readonly seed: number;
}

type OnProgress = (percent: number, stage: string) => void;

/** Percent that is reached when the first frame is drawn. */
const BEFORE_FRAMES = 8;
const ALL_FRAMES = 96;
const COVER_EDGE = 320;
const LONGEST_TITLE = 120;

/** Renders, encodes and muxes a video. Deterministic. */
export async function produceVideo(production: Production, onProgress: OnProgress): Promise<StudioVideo> {
  const { renderer, size, framesPerSecond, frames, sound, seed } = production;
  const onFrame = createFrameProgress(frames, onProgress);
  const { mp4, middle } = await encodeFrames({ renderer, size, framesPerSecond, frames, onFrame });
  const image = sharp(middle, { raw: { ...size, channels: 3 } });
  const cover = await coverFrom(image.clone());
  const bytes = await writeEncodedMp4(
    { mp4, framesPerSecond },
    { sound, cover, ...labelsFor(production.title, seed) },
  );
  return {
    bytes,
    contentType: 'video/mp4',
    ...size,
    duration: await fileDuration(bytes),
    framesPerSecond,
    hasSound: sound !== null,
    seed,
    poster: await image.clone().jpeg({ quality: 82 }).toBuffer(),
  };
}

/** The metadata of a video. */
export function labelsFor(title: string, seed: number): { title: string; comment: string } {
  return {
    title: title.slice(0, LONGEST_TITLE).toWellFormed(),
    comment: `Kiln studio, engine local-procedural, seed ${seed}`,
  };
}

/** The cover of a video, a small JPEG. */
export function coverFrom(image: Sharp): Promise<Buffer> {
  return image
    .resize(COVER_EDGE, COVER_EDGE, { fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality: 70 })
    .toBuffer();
}

/** Reports each percent once. */
function createFrameProgress(frames: number, onProgress: OnProgress): (done: number) => void {
  let reported = 0;
  return (done) => {
    const percent = BEFORE_FRAMES + Math.floor(((ALL_FRAMES - BEFORE_FRAMES) * done) / frames);
    if (percent === reported) return;
    reported = percent;
    onProgress(percent, 'frames');
  };
}

/** Quantization 28 at full speed: 38 dB and about 13 ms a frame at 720p; a key frame every two seconds, so that seeking is quick. */
const QUANTIZATION = 28;
const SPEED = 10;
const SECONDS_PER_KEY_FRAME = 2;

/** Frames to be encoded. */
interface EncodingRun {
  readonly renderer: FrameRenderer | AsyncFrameRenderer;
  readonly size: Size;
  readonly framesPerSecond: number;
  readonly frames: number;
  /** Called after each frame. */
  readonly onFrame: (done: number) => void;
}

type Encoder = Awaited<ReturnType<typeof encoders.createH264MP4Encoder>>;

/** Draws and encodes frames: a bare MP4 with H.264, and the middle frame as RGB. */
async function encodeFrames(run: EncodingRun): Promise<{ mp4: Uint8Array; middle: Buffer }> {
  const { size, framesPerSecond } = run;
  const encoder = await encoders.createH264MP4Encoder();
  try {
    encoder.width = size.width;
    encoder.height = size.height;
    encoder.frameRate = framesPerSecond;
    encoder.quantizationParameter = QUANTIZATION;
    encoder.speed = SPEED;
    encoder.groupOfPictures = framesPerSecond * SECONDS_PER_KEY_FRAME;
    encoder.initialize();
    let middle: Buffer;
    try {
      middle = await addFrames(run, encoder);
    } finally {
      // Deleting an encoder before finalizing it crashes the process.
      encoder.finalize();
    }
    return { mp4: encoder.FS.readFile(encoder.outputFilename), middle };
  } finally {
    encoder.delete();
  }
}

/** Draws the frames into the encoder; returns the middle one as RGB. */
async function addFrames(
  { renderer, size, frames, onFrame }: EncodingRun,
  encoder: Encoder,
): Promise<Buffer> {
  const frame = new Uint8Array(frameBytes(size));
  let middle: Buffer = Buffer.alloc(0);
  for (let index = 0; index < frames; index += 1) {
    await renderer.draw(index / Math.max(1, frames - 1), frame);
    encoder.addFrameYuv(frame);
    if (index === frames >> 1) middle = toRgb(frame, size);
    onFrame(index + 1);
    // Progress messages are sent between turns of the event loop.
    await breathe();
  }
  return middle;
}
