import { createCanvas } from '@napi-rs/canvas';

import { registerFonts, writeCaption } from '../art/caption.ts';
import { paintScene } from '../art/painted-image.ts';
import { eased } from './frame-renderer.ts';
import type { FrameRenderer, FramePlan } from './frame-renderer.ts';
import { withoutColour, writeI420 } from './yuv.ts';

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
