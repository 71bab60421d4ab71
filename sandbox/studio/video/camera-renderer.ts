import { createRandom } from '../art/random.ts';
import { loadPlanes, renderView } from './camera.ts';
import type { View } from './camera.ts';
import { eased } from './frame-renderer.ts';
import type { FrameRenderer, FramePlan } from './frame-renderer.ts';

const RESERVE = 1.4;

/** A camera that zooms and pans over a picture (Ken Burns); the seed decides the direction. */
export async function createCameraRenderer(
  { seed, size }: FramePlan,
  picture: Uint8Array,
): Promise<FrameRenderer> {
  const planes = await loadPlanes(picture, size, RESERVE);
  const random = createRandom(seed);
  const goesNearer = random() < 0.6;
  const x = 0.42 + 0.16 * random();
  const y = 0.45 + 0.1 * random();
  const whole: View = { x: 0.5, y: 0.5, zoom: 1 };
  const near: View = { x, y, zoom: 1.32 };
  const [start, end] = goesNearer ? [whole, near] : [near, whole];
  return {
    draw(moment, frame) {
      const way = eased(moment);
      const between = (from: number, to: number) => from + (to - from) * way;
      const view = {
        x: between(start.x, end.x),
        y: between(start.y, end.y),
        zoom: between(start.zoom, end.zoom),
      };
      renderView(planes, view, size, frame);
    },
  };
}
