import { encodeImage } from '../art/encode.ts';
import { paintImage, mixSeeds } from '../art/painted-image.ts';
import { composeAmbient } from '../sound/ambient.ts';
import type { StudioVideo, VideoRequest } from '../types/media-types.ts';
import type { Size } from '../types/size.ts';
import { createCameraRenderer } from './camera-renderer.ts';
import { createDissolveRenderer } from './dissolve-renderer.ts';
import type { FrameRenderer, FramePlan } from './frame-renderer.ts';
import { produceVideo } from './produce.ts';
import { createSceneRenderer } from './scene-renderer.ts';

/** The plan of a video. */
export interface VideoPlan {
  readonly request: VideoRequest;
  /** Even edges. */
  readonly size: Size;
  readonly framesPerSecond: number;
  readonly frames: number;
}

type OnProgress = (percent: number, stage: string) => void;

/** Renders a video. Deterministic. */
export async function makeVideo(plan: VideoPlan, onProgress: OnProgress): Promise<StudioVideo> {
  const { request, size, framesPerSecond, frames } = plan;
  const { seed, mixed } = mixSeeds(request.prompt, request.seed ?? null);
  onProgress(1, 'scene');
  const renderer = await openRenderer(request, { prompt: request.prompt, seed: mixed, size });
  const isSilent = request.soundtrack !== 'ambient';
  const sound = isSilent ? null : composeAmbient(mixed, frames / framesPerSecond);
  return produceVideo(
    { renderer, size, framesPerSecond, frames, sound, title: request.prompt, seed },
    onProgress,
  );
}

async function openRenderer(request: VideoRequest, plan: FramePlan): Promise<FrameRenderer> {
  const { firstFrame, lastFrame } = request;
  if (lastFrame !== undefined) {
    const first = firstFrame ?? (await paintedFrame(plan));
    return createDissolveRenderer(plan, { first, last: lastFrame });
  }
  return firstFrame === undefined ? createSceneRenderer(plan) : createCameraRenderer(plan, firstFrame);
}

/** The first frame of a video that has only a last one: the prompt's scene. */
async function paintedFrame({ prompt, seed, size }: FramePlan): Promise<Buffer> {
  const picture = await paintImage(
    { prompt, seed, ...size, references: [], hasCaption: false },
    () => undefined,
  );
  return encodeImage(picture, { prompt, format: 'png' });
}
