import { createCanvas, loadImage } from '@napi-rs/canvas';
import type { Canvas } from '@napi-rs/canvas';

import type { Size } from '../types/size.ts';
import { registerFonts, writeCaption } from './caption.ts';
import { finish } from './finish.ts';
import { paintForeground, paintGround } from './ground.ts';
import { createPainting } from './painting.ts';
import type { Painting } from './painting.ts';
import { hashText } from './random.ts';
import { readPrompt } from './scene.ts';
import { paintClouds, paintSky } from './sky.ts';
import { paintSubjects } from './subjects.ts';
import { paintWeather } from './weather.ts';

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
 * Paints a picture: the prompt chooses palette, layers and finish, the seed the rest. Procedural (engine:
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

/** What a prompt wants to be read in the picture: its words in quotation marks. */
function quotedIn(prompt: string): string {
  return [...prompt.matchAll(/["“「『]([^"”」』]{1,200})["”」』]/g)].map(([, words]) => words).join(' ');
}

/** The reported seed, and the one used for painting: it depends on the prompt too, so that different prompts give different pictures. */
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

/** Blends a reference picture into the scene. */
async function blend(canvas: Canvas, painting: Painting, reference: Uint8Array): Promise<void> {
  const image = await loadImage(reference);
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
