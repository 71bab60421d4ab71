import { createCanvas } from '@napi-rs/canvas';

import { registerFonts, writeCaption } from '../art/caption.ts';
import { paintScene } from '../art/picture.ts';
import { eased } from './frame-renderer.ts';
import type { FrameRenderer, FramePlan } from './frame-renderer.ts';
import { withoutColour, writeI420 } from './yuv.ts';

const ZOOM = 0.06;
/** How much of the sheets' margin the nearest one uses. */
const SWING = 1.8;

/** The scene of the prompt with the view moving past it: near sheets move more than far ones. The prompt shows for a while. */
export function createSceneRenderer({ prompt, seed, size }: FramePlan): FrameRenderer {
  const easel = paintScene({ prompt, seed, size }, () => undefined);
  const { width, height } = size;
  const canvas = createCanvas(width, height);
  const caption = createCanvas(width, height);
  registerFonts();
  writeCaption(caption, prompt);
  const brush = canvas.getContext('2d');
  const isGrey = easel.scene.finish === 'noir' || easel.scene.finish === 'line';
  return {
    draw(moment, frame) {
      const way = eased(moment);
      const zoom = 1 + ZOOM * way;
      brush.setTransform(zoom, 0, 0, zoom, (-width * (zoom - 1)) / 2, (-height * (zoom - 1)) / 2);
      for (const { canvas: sheet, depth } of easel.layers) {
        const shift = (way - 0.5) * easel.margin * SWING * Math.min(1, depth);
        brush.drawImage(sheet, -easel.margin - shift, 0);
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

/** Comes after the start and goes before the end. */
function captionAt(moment: number): number {
  const comes = Math.min(1, Math.max(0, (moment - 0.05) * 6));
  const goes = Math.min(1, Math.max(0, (0.95 - moment) * 8));
  return comes * goes;
}
