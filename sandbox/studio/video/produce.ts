import sharp from 'sharp';
import type { Sharp } from 'sharp';

import { fileDuration } from '../measure/probe.ts';
import type { Sound } from '../sound/sound.ts';
import type { StudioVideo } from '../types/media-types.ts';
import type { Size } from '../types/size.ts';
import type { FrameRenderer, AsyncFrameRenderer } from './frame-renderer.ts';
import { encodeFrames } from './h264.ts';
import { writeEncodedMp4 } from './mp4.ts';

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
  const picture = sharp(middle, { raw: { ...size, channels: 3 } });
  const cover = await coverFrom(picture.clone());
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
    poster: await picture.clone().jpeg({ quality: 82 }).toBuffer(),
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
export function coverFrom(picture: Sharp): Promise<Buffer> {
  return picture
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
