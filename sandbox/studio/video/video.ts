import sharp from 'sharp';

import { paintPicture, seedsOf } from '../art/picture.ts';
import { encodePicture } from '../encode.ts';
import { fileDuration } from '../measure/probe.ts';
import type { StudioVideo, VideoRequest } from '../media-types.ts';
import type { Size } from '../size.ts';
import { composeAmbient } from '../sound/ambient.ts';
import { createCameraFilm } from './camera-film.ts';
import { createDissolveFilm } from './dissolve-film.ts';
import type { Film, FilmPlan } from './film.ts';
import { encodeFilm } from './h264.ts';
import { writeMp4 } from './mp4.ts';
import { createSceneFilm } from './scene-film.ts';

/** What the studio has decided about a video. */
export interface VideoPlan {
  readonly request: VideoRequest;
  /** Even edges. */
  readonly size: Size;
  readonly framesPerSecond: number;
  readonly frames: number;
}

type OnProgress = (percent: number, stage: string) => void;

/** Percent that is reached when the first frame is drawn. */
const BEFORE_FRAMES = 8;
const ALL_FRAMES = 96;
const COVER_EDGE = 320;
const LONGEST_TITLE = 120;

/** Renders a video. The same plan gives the same bytes. */
export async function makeVideo(plan: VideoPlan, onProgress: OnProgress): Promise<StudioVideo> {
  const { request, size, framesPerSecond, frames } = plan;
  const { seed, mixed } = seedsOf(request.prompt, request.seed ?? null);
  onProgress(1, 'scene');
  const film = await openFilm(request, { prompt: request.prompt, seed: mixed, size });
  const onFrame = createFrameProgress(frames, onProgress);
  const { mp4, middle } = await encodeFilm({ film, size, framesPerSecond, frames, onFrame });
  const picture = sharp(middle, { raw: { ...size, channels: 3 } });
  const bytes = await writeMp4({
    pictures: mp4,
    framesPerSecond,
    sound: request.soundtrack === 'ambient' ? composeAmbient(mixed, frames / framesPerSecond) : null,
    title: request.prompt.slice(0, LONGEST_TITLE).toWellFormed(),
    comment: `Kiln studio, engine local-procedural, seed ${seed}`,
    cover: await picture
      .clone()
      .resize(COVER_EDGE, COVER_EDGE, { fit: 'inside', withoutEnlargement: true })
      .jpeg({ quality: 70 })
      .toBuffer(),
  });
  return {
    bytes,
    contentType: 'video/mp4',
    ...size,
    duration: await fileDuration(bytes),
    framesPerSecond,
    hasSound: request.soundtrack === 'ambient',
    seed,
    poster: await picture.clone().jpeg({ quality: 82 }).toBuffer(),
  };
}

async function openFilm(request: VideoRequest, plan: FilmPlan): Promise<Film> {
  const { firstFrame, lastFrame } = request;
  if (lastFrame !== undefined) {
    const first = firstFrame ?? (await paintedFrame(plan));
    return createDissolveFilm(plan, { first, last: lastFrame });
  }
  return firstFrame === undefined ? createSceneFilm(plan) : createCameraFilm(plan, firstFrame);
}

/** The prompt's own scene: where a video starts that is only told where to end. */
async function paintedFrame({ prompt, seed, size }: FilmPlan): Promise<Buffer> {
  const picture = await paintPicture(
    { prompt, seed, ...size, references: [], hasCaption: false },
    () => undefined,
  );
  return encodePicture(picture, { prompt, format: 'png' });
}

/** Tells each percent once, however many frames there are. */
function createFrameProgress(frames: number, onProgress: OnProgress): (done: number) => void {
  let told = 0;
  return (done) => {
    const percent = BEFORE_FRAMES + Math.floor(((ALL_FRAMES - BEFORE_FRAMES) * done) / frames);
    if (percent === told) return;
    told = percent;
    onProgress(percent, 'frames');
  };
}
