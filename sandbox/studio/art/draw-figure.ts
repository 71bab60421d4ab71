import type { SKRSContext2D } from '@napi-rs/canvas';

import type { Figure, Paint, Part } from './figures/figure.ts';
import { type Colour, css, type SubjectContext } from './painting.ts';

/** Share of the picture's shorter edge that half of a figure takes. */
const HALF = 0.25;

/** Draws a figure with its feet on the ground; in the dark its colours are dim. */
export function drawFigure(
  figure: Figure,
  { painting, layer, x, y }: SubjectContext,
  hue: number | null,
): void {
  const size = painting.unit * HALF * (figure.size ?? 1);
  const foot = y + painting.unit * 0.16 - (figure.lift ?? 0) * size;
  const [ownHue, saturation, lightness] = figure.main;
  const main: Colour = hue === null ? figure.main : [hue, Math.max(saturation, 55), Math.max(35, lightness)];
  const dim = painting.isDark ? 0.62 : 1;
  const toColour = (paint: Paint): string => {
    const [h, s, l] = paint === 'main' || paint === 'dark' || paint === 'light' ? main : paint;
    const shade = { dark: 0.68, light: 1.3 }[String(paint)] ?? 1;
    return css([h, s, Math.min(95, l * shade) * dim]);
  };
  layer.fillStyle = `hsla(${ownHue},20%,8%,${lightness > 0 && !figure.lift ? 0.22 : 0})`;
  oval(layer, [x, foot, size * 0.95, size * 0.1, 0]);
  for (const part of figure.parts) drawPart(layer, part, { x, foot, size, toColour });
}

interface Place {
  readonly x: number;
  readonly foot: number;
  readonly size: number;
  readonly toColour: (paint: Paint) => string;
}

function drawPart(layer: SKRSContext2D, part: Part, { x, foot, size, toColour }: Place): void {
  if (part[0] === 'oval') {
    const [, left, up, rx, ry, paint, turn = 0] = part;
    layer.fillStyle = toColour(paint);
    return oval(layer, [x + left * size, foot - up * size, rx * size, ry * size, turn]);
  }
  const points = part[1];
  layer.beginPath();
  for (let index = 0; index < points.length; index += 2) {
    const at = [x + (points[index] ?? 0) * size, foot - (points[index + 1] ?? 0) * size] as const;
    if (index === 0) layer.moveTo(...at);
    else layer.lineTo(...at);
  }
  if (part[0] === 'poly') {
    layer.fillStyle = toColour(part[2]);
    layer.closePath();
    return layer.fill();
  }
  layer.strokeStyle = toColour(part[3]);
  layer.lineWidth = part[2] * size;
  layer.lineCap = 'round';
  layer.lineJoin = 'round';
  layer.stroke();
}

function oval(
  layer: SKRSContext2D,
  [x, y, rx, ry, turn]: readonly [number, number, number, number, number],
): void {
  layer.beginPath();
  layer.ellipse(x, y, rx, ry, turn, 0, Math.PI * 2);
  layer.fill();
}
