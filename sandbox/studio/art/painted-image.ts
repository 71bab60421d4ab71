import { createCanvas, loadImage, type Canvas } from '@napi-rs/canvas';

import type { Size } from '../types/size.ts';
import { UnreadableImage } from '../types/studio.ts';
import { registerFonts, writeCaption } from './caption.ts';
import { paintForeground, paintGround } from './ground.ts';
import { createPainting, type Painting } from './painting.ts';
import { hashText, createNoise, type Noise } from './random.ts';
import { readPrompt, type Scene } from './scene.ts';
import { paintClouds, paintSky, paintWeather } from './sky.ts';
import { paintSubjects } from './subjects.ts';

/** What to paint. */
export interface ImageRequest {
  readonly prompt: string;
  readonly seed: number | null;
  readonly width: number;
  readonly height: number;
  /** PNG, JPEG or WebP files that are blended in. */
  readonly references: readonly Uint8Array[];
  readonly hasCaption: boolean;
}

/** A canvas that is being drawn on. */
export interface PaintedImage {
  readonly canvas: Canvas;
  readonly seed: number;
}

/**
 * Paints an image: the prompt chooses palette, layers and finish, the seed the rest. Procedural (engine:
 * local-procedural), no image model; the same request makes the same pixels.
 */
export async function paintImage(
  request: ImageRequest,
  onProgress: (percent: number, stage: string) => void,
): Promise<PaintedImage> {
  const { prompt, width, height } = request;
  const { seed, mixed } = mixSeeds(prompt, request.seed);
  const painting = paintScene({ prompt, seed: mixed, size: { width, height } }, onProgress);
  const canvas = createCanvas(width, height);
  compose(canvas, painting);
  onProgress(72, 'composing');
  for (const reference of request.references) await blend(canvas, painting, reference);
  finish(canvas, painting.scene, mixed);
  onProgress(90, 'finishing');
  const words = request.hasCaption ? quotedIn(prompt) : '';
  if (words !== '') {
    registerFonts();
    writeCaption(canvas, words);
  }
  onProgress(95, 'caption');
  return { canvas, seed };
}

/** What a prompt wants to be read in the image: its words in quotation marks. */
function quotedIn(prompt: string): string {
  return [...prompt.matchAll(/["“「『]([^"”」』]{1,200})["”」』]/g)].map(([, words]) => words).join(' ');
}

/** The reported seed, and the one used for painting: it depends on the prompt too, so that different prompts give different images. */
export function mixSeeds(prompt: string, input: number | null): { seed: number; mixed: number } {
  const hash = hashText(prompt);
  if (input === null) return { seed: hash, mixed: hash };
  return { seed: input, mixed: (hash ^ Math.imul(input, 0x9e3779b1)) >>> 0 };
}

/** Paints the layers of the prompt's scene; deterministic. */
export function paintScene(
  { prompt, seed, size }: { readonly prompt: string; readonly seed: number; readonly size: Size },
  onProgress: (percent: number, stage: string) => void,
): Painting {
  const painting = createPainting(readPrompt(prompt, seed), seed, size);
  paintLayers(painting, onProgress);
  return painting;
}

function paintLayers(painting: Painting, onProgress: (percent: number, stage: string) => void): void {
  paintSky(painting);
  onProgress(10, 'sky');
  if (painting.scene.time !== 'space') paintClouds(painting);
  onProgress(25, 'clouds');
  paintGround(painting);
  onProgress(45, painting.scene.ground);
  paintSubjects(painting, (subject) => onProgress(55, subject));
  paintForeground(painting);
  paintWeather(painting);
  onProgress(65, 'weather');
}

/** Composites the layers with the camera in the middle. */
function compose(canvas: Canvas, painting: Painting): void {
  const brush = canvas.getContext('2d');
  for (const layer of painting.layers) brush.drawImage(layer.canvas, -painting.margin, 0);
}

/** Blends a reference image into the scene. */
async function blend(canvas: Canvas, painting: Painting, reference: Uint8Array): Promise<void> {
  const image = await loadImage(reference).catch((cause: unknown) => {
    throw new UnreadableImage(cause);
  });
  const { width, height } = canvas;
  const scale = Math.max(width / image.width, height / image.height);
  const wide = image.width * scale;
  const high = image.height * scale;
  const brush = canvas.getContext('2d');
  brush.globalAlpha = 0.55;
  brush.drawImage(image, (width - wide) / 2, (height - high) / 2, wide, high);
  brush.globalAlpha = 0.35;
  brush.globalCompositeOperation = 'soft-light';
  compose(canvas, painting);
  brush.globalCompositeOperation = 'source-over';
  brush.globalAlpha = 1;
}

/** Applies the finish of the scene: large pixels, glow, paper, ink, or grain. */
function finish(canvas: Canvas, scene: Scene, seed: number): void {
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
