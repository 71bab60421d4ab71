import { createCanvas, type Canvas } from '@napi-rs/canvas';

import { paintImage } from '../../art/painted-image.ts';
import { css, disc } from '../../art/painting.ts';
import { createRandom } from '../../art/random.ts';
import type { FrameRenderer, FramePlan } from '../../video/frame-renderer.ts';
import { writeI420 } from '../../video/yuv.ts';
import { drawFigure } from '../drawing/figure.ts';
import { drawLevelBar, createLook } from '../drawing/look.ts';
import type { Mouth } from '../drawing/mouth.ts';

/** The voice as mouth shapes. */
export interface VoiceTrack {
  /** One per frame. */
  readonly track: readonly Mouth[];
  readonly framesPerSecond: number;
}

const SILENT: Mouth = { open: 0, wide: 0.4, round: 0, level: 0 };

/** The frame index and mouth shape at a moment. */
export function frameAt({ track }: VoiceTrack, moment: number): { index: number; mouth: Mouth } {
  const index = Math.round(moment * Math.max(0, track.length - 1));
  return { index, mouth: track[index] ?? SILENT };
}

/** A drawn presenter whose mouth follows the voice, in front of the prompt's scene or a plain wall. */
export async function createDrawnPresenter(plan: FramePlan, performance: VoiceTrack): Promise<FrameRenderer> {
  const { size, seed } = plan;
  const backdrop = plan.prompt === '' ? paintWall(plan) : await paintScenery(plan);
  const look = createLook(seed);
  const canvas = createCanvas(size.width, size.height);
  const brush = canvas.getContext('2d');
  const radius = Math.min(size.width * 0.25, size.height * 0.24);
  const place = { x: size.width / 2, y: size.height - radius * 2.6, radius };
  return {
    draw(moment, frame) {
      const { index, mouth } = frameAt(performance, moment);
      brush.drawImage(backdrop, 0, 0);
      drawFigure(brush, place, look, { mouth, seconds: index / performance.framesPerSecond });
      drawLevelBar(brush, size, performance.track, index);
      writeI420(canvas.data(), size, frame);
    },
  };
}

function paintWall({ seed, size: { width, height } }: FramePlan): Canvas {
  const random = createRandom(seed ^ 77);
  const hue = random() * 360;
  const canvas = createCanvas(width, height);
  const brush = canvas.getContext('2d');
  const light = brush.createLinearGradient(0, 0, width * 0.3, height);
  light.addColorStop(0, css([hue, 35, 64]));
  light.addColorStop(1, css([hue + 50, 40, 30]));
  brush.fillStyle = light;
  brush.fillRect(0, 0, width, height);
  for (let spot = 0; spot < 14; spot += 1) {
    brush.fillStyle = css([hue, 20, 96], 0.03 + 0.05 * random());
    disc(brush, random() * width, random() * height, Math.min(width, height) * (0.05 + 0.25 * random()));
  }
  return canvas;
}

/** The scene is darkened, so that the presenter stands out. */
async function paintScenery({ prompt, seed, size }: FramePlan): Promise<Canvas> {
  const { canvas } = await paintImage(
    { prompt, seed, ...size, references: [], hasCaption: false },
    () => undefined,
  );
  const brush = canvas.getContext('2d');
  brush.fillStyle = 'rgba(16,18,28,.28)';
  brush.fillRect(0, 0, size.width, size.height);
  return canvas;
}
