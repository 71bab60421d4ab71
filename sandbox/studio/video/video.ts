import { createCanvas } from '@napi-rs/canvas';

import { registerFonts, writeCaption } from '../art/caption.ts';
import { encodeImage } from '../art/encode.ts';
import { paintImage, mixSeeds, paintScene } from '../art/painted-image.ts';
import { composeAmbient } from '../sound/ambient.ts';
import type { StudioVideo, VideoRequest } from '../types/media-types.ts';
import type { Size } from '../types/size.ts';
import { createCameraRenderer, createDissolveRenderer } from './camera-renderer.ts';
import { type FrameRenderer, type FramePlan, eased } from './frame-renderer.ts';
import { produceVideo } from './produce.ts';
import { withoutColour, writeI420 } from './yuv.ts';

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
  const image = await paintImage(
    { prompt, seed, ...size, references: [], hasCaption: false },
    () => undefined,
  );
  return encodeImage(image, { prompt, format: 'png' });
}

const ZOOM = 0.06;
/** The share of the margin that the nearest layer uses. */
const SWING = 1.8;

/** The scene of the prompt with a moving camera (parallax). The caption is shown for a while. */
export function createSceneRenderer({ prompt, seed, size }: FramePlan): FrameRenderer {
  const painting = paintScene({ prompt, seed, size }, () => undefined);
  const { width, height } = size;
  const canvas = createCanvas(width, height);
  const caption = createCanvas(width, height);
  registerFonts();
  writeCaption(caption, prompt);
  const brush = canvas.getContext('2d');
  const isGrey = painting.scene.finish === 'noir' || painting.scene.finish === 'line';
  return {
    draw(moment, frame) {
      const way = eased(moment);
      const zoom = 1 + ZOOM * way;
      brush.setTransform(zoom, 0, 0, zoom, (-width * (zoom - 1)) / 2, (-height * (zoom - 1)) / 2);
      for (const { canvas: layer, depth } of painting.layers) {
        const shift = (way - 0.5) * painting.margin * SWING * Math.min(1, depth);
        brush.drawImage(layer, -painting.margin - shift, 0);
      }
      brush.resetTransform();
      brush.globalAlpha = captionAt(moment);
      brush.drawImage(caption, 0, 0);
      brush.globalAlpha = 1;
      writeI420(canvas.data(), size, frame);
      if (isGrey) withoutColour(frame, size);
    },
  };
}

/** The opacity of the caption: fades in and out. */
function captionAt(moment: number): number {
  const comes = Math.min(1, Math.max(0, (moment - 0.05) * 6));
  const goes = Math.min(1, Math.max(0, (0.95 - moment) * 8));
  return comes * goes;
}
