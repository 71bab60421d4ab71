import { createCanvas } from '@napi-rs/canvas';
import type { Canvas, SKRSContext2D } from '@napi-rs/canvas';

import { createNoise, createRandom } from './random.ts';
import type { Noise } from './random.ts';
import type { Scene } from './scene.ts';

/** A colour: hue in degrees, saturation and lightness in percent. */
export type Colour = readonly [hue: number, saturation: number, lightness: number];

/** One layer of the image: nearer ones (greater depth) move more when the camera moves (parallax). */
interface Layer {
  readonly canvas: Canvas;
  readonly depth: number;
}

/** An image being painted: its measures, random numbers, and layers. */
export interface Painting {
  readonly scene: Scene;
  /** Size of every layer; wider than the image by a margin on both sides, so that the camera can move. */
  readonly width: number;
  readonly height: number;
  /** Width of the margin on each side. */
  readonly margin: number;
  /** Width of the image itself. */
  readonly viewWidth: number;
  /** The shorter edge of the image: the unit of all sizes. */
  readonly unit: number;
  /** Where the sky ends, from the top. */
  readonly horizon: number;
  readonly isDark: boolean;
  /** Lightness of the darkest ground, in percent. */
  readonly darkest: number;
  readonly random: () => number;
  readonly noise: Noise;
  /** Adds an empty layer in front of the others. */
  layer(depth: number): SKRSContext2D;
  readonly layers: readonly Layer[];
}

/** Creates an empty painting of this size. */
export function createPainting(
  scene: Scene,
  seed: number,
  size: { width: number; height: number },
): Painting {
  const random = createRandom(seed ^ 0x9e3779b9);
  const margin = Math.ceil(size.width * 0.12);
  const width = size.width + 2 * margin;
  const layers: Layer[] = [];
  const isDark = scene.time === 'night' || scene.time === 'space';
  const daylight = scene.time === 'day' ? 30 : 14;
  return {
    scene,
    width,
    height: size.height,
    margin,
    viewWidth: size.width,
    unit: Math.min(size.width, size.height),
    horizon: size.height * (0.55 + 0.1 * random()),
    isDark,
    darkest: isDark ? 6 : daylight,
    random,
    noise: createNoise(seed & 0xffff),
    layer(depth) {
      const canvas = createCanvas(width, size.height);
      layers.push({ canvas, depth });
      return canvas.getContext('2d');
    },
    layers,
  };
}

/** The colour as CSS; opaque when no alpha is given. */
export function css([hue, saturation, lightness]: Colour, alpha = 1): string {
  return `hsla(${((hue % 360) + 360) % 360},${saturation}%,${lightness}%,${alpha})`;
}

/** The colour with its hue shifted towards the scene's by this share. */
export function tinted(scene: Scene, [hue, saturation, lightness]: Colour, share = 0.35): Colour {
  const way = ((scene.hue - hue + 540) % 360) - 180;
  return [hue + way * share, saturation, lightness];
}

/** A filled circle. */
export function disc(layer: SKRSContext2D, x: number, y: number, radius: number): void {
  layer.beginPath();
  layer.arc(x, y, radius, 0, Math.PI * 2);
  layer.fill();
}

/** A filled shape through these points. */
export function shape(layer: SKRSContext2D, points: readonly (readonly [number, number])[]): void {
  layer.beginPath();
  for (const [index, [x, y]] of points.entries()) {
    if (index === 0) layer.moveTo(x, y);
    else layer.lineTo(x, y);
  }
  layer.closePath();
  layer.fill();
}

/** Where a subject is painted, and on which layer. */
export interface SubjectContext {
  readonly painting: Painting;
  readonly layer: SKRSContext2D;
  /** Middle of the scene. */
  readonly x: number;
  /** The ground they stand on, from the top. */
  readonly y: number;
  /** Nearly black, in the scene's tint. */
  readonly ink: string;
}
