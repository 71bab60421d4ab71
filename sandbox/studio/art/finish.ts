import { createCanvas } from '@napi-rs/canvas';
import type { Canvas } from '@napi-rs/canvas';

import { createNoise } from './random.ts';
import type { Noise } from './random.ts';
import type { Scene } from './scene.ts';

/** Applies the finish of the scene: large pixels, glow, paper, ink, or grain. */
export function finish(canvas: Canvas, scene: Scene, seed: number): void {
  if (scene.finish === 'pixel') enlargePixels(canvas);
  if (scene.finish === 'neon') glow(canvas);
  const brush = canvas.getContext('2d');
  const image = brush.getImageData(0, 0, canvas.width, canvas.height);
  shadePixels(image.data, canvas, scene, seed);
  brush.putImageData(image, 0, 0);
}

function enlargePixels(canvas: Canvas): void {
  const small = createCanvas(
    Math.max(1, Math.round(canvas.width / 8)),
    Math.max(1, Math.round(canvas.height / 8)),
  );
  small.getContext('2d').drawImage(canvas, 0, 0, small.width, small.height);
  const brush = canvas.getContext('2d');
  brush.imageSmoothingEnabled = false;
  brush.drawImage(small, 0, 0, canvas.width, canvas.height);
}

function glow(canvas: Canvas): void {
  const blurred = createCanvas(canvas.width, canvas.height);
  const layer = blurred.getContext('2d');
  layer.filter = `blur(${Math.max(1, Math.round(canvas.width / 60))}px)`;
  layer.drawImage(canvas, 0, 0);
  const brush = canvas.getContext('2d');
  brush.globalCompositeOperation = 'lighter';
  brush.globalAlpha = 0.55;
  brush.drawImage(blurred, 0, 0);
  brush.globalAlpha = 1;
  brush.globalCompositeOperation = 'source-over';
}

/** Adds vignette, grain or paper; removes the colour for ink and noir. In place, RGBA. */
function shadePixels(
  data: Uint8ClampedArray,
  { width, height }: { readonly width: number; readonly height: number },
  scene: Scene,
  seed: number,
): void {
  const isPaper = scene.finish === 'watercolour';
  const isGrey = scene.finish === 'noir' || scene.finish === 'line';
  const grain = isPaper ? paper(createNoise(seed & 0xff)) : film(seed);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 4;
      const vignette = 1 - 0.55 * ((x / width - 0.5) ** 2 + (y / height - 0.5) ** 2);
      const speck = grain(x, y);
      for (let channel = at; channel < at + 3; channel += 1) {
        const value = (data[channel] ?? 0) * vignette + speck;
        data[channel] = isPaper ? 40 + value * 0.86 : value;
      }
      if (isGrey) withoutColour(data, at);
    }
  }
}

function paper(noise: Noise): (x: number, y: number) => number {
  return (x, y) => (noise(x / 9, y / 9, 3) - 0.5) * 60;
}

function film(seed: number): (x: number, y: number) => number {
  return (x, y) => {
    let mixed = Math.imul(x * 7919 + y * 104_729 + seed, 2_654_435_761) >>> 0;
    mixed ^= mixed >>> 15;
    return ((mixed & 255) - 128) * 0.06;
  };
}

function withoutColour(data: Uint8ClampedArray, at: number): void {
  const luma = 0.2126 * (data[at] ?? 0) + 0.7152 * (data[at + 1] ?? 0) + 0.0722 * (data[at + 2] ?? 0);
  const value = (luma - 110) * 1.25 + 118;
  data.fill(value, at, at + 3);
}
