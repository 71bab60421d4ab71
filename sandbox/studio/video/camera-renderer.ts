import { createRandom, createNoise } from '../art/random.ts';
import type { Size } from '../types/size.ts';
import { loadPlanes, renderView, type View } from './camera.ts';
import { eased, type FrameRenderer, type FramePlan } from './frame-renderer.ts';
import { frameBytes } from './yuv.ts';

const RESERVE = 1.4;

/** A camera that zooms and pans over an image (Ken Burns); the seed decides the direction. */
export async function createCameraRenderer(
  { seed, size }: FramePlan,
  image: Uint8Array,
): Promise<FrameRenderer> {
  const planes = await loadPlanes(image, size, RESERVE);
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

const ZOOM = 0.18;

/** A dissolve between two images along noise patches; the first and last frames are the images themselves. */
export async function createDissolveRenderer(
  { seed, size }: FramePlan,
  images: { readonly first: Uint8Array; readonly last: Uint8Array },
): Promise<FrameRenderer> {
  const first = await loadPlanes(images.first, size, 1);
  const last = await loadPlanes(images.last, size, 1);
  const mask = createMask(seed, size);
  const [one, other] = [new Uint8Array(frameBytes(size)), new Uint8Array(frameBytes(size))];
  return {
    draw(moment, frame) {
      const middle = { x: 0.5, y: 0.5 };
      if (moment <= 0) return renderView(first, { ...middle, zoom: 1 }, size, frame);
      if (moment >= 1) return renderView(last, { ...middle, zoom: 1 }, size, frame);
      renderView(first, { ...middle, zoom: 1 + ZOOM * eased(moment) }, size, one);
      renderView(last, { ...middle, zoom: 1 + ZOOM * (1 - eased(moment)) }, size, other);
      const edge = eased(Math.min(1, Math.max(0, (moment - 0.1) / 0.8))) * 384 - 64;
      dissolve({ one, other, mask, edge }, size, frame);
    },
  };
}

/** The time at which each pixel changes, 0 to 255: from left to right, in patches. */
function createMask(seed: number, { width, height }: Size): Uint8Array {
  const noise = createNoise(seed & 0xffff);
  const patch = Math.max(width, height) / 9;
  const mask = new Uint8Array(width * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const when = 0.5 * (x / width) + 0.9 * noise(x / patch, y / patch, 4) - 0.2;
      mask[y * width + x] = 255 * Math.min(1, Math.max(0, when));
    }
  }
  return mask;
}

interface Mixture {
  readonly one: Uint8Array;
  readonly other: Uint8Array;
  readonly mask: Uint8Array;
  readonly edge: number;
}

function dissolve({ one, other, mask, edge }: Mixture, { width, height }: Size, frame: Uint8Array): void {
  const pixels = width * height;
  const blend = (at: number, turns: number) => {
    const share = Math.max(0, Math.min(256, ((edge - turns) * 2 + 128) | 0));
    frame[at] = (one[at] ?? 0) + ((((other[at] ?? 0) - (one[at] ?? 0)) * share) >> 8);
  };
  for (let at = 0; at < pixels; at += 1) blend(at, mask[at] ?? 0);
  let chroma = pixels;
  for (let y = 0; y < height; y += 2) {
    for (let x = 0; x < width; x += 2, chroma += 1) {
      const turns = mask[y * width + x] ?? 0;
      blend(chroma, turns);
      blend(chroma + pixels / 4, turns);
    }
  }
}
