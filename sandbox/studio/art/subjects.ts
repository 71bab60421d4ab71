import type { SKRSContext2D } from '@napi-rs/canvas';

import type { Figure, Paint, Part } from './figures/figure.ts';
import { findFigure, type FigureName } from './figures/figures.ts';
import { paintBalloon, paintBirds, paintCat, paintCup, paintFigure, paintFlower } from './living.ts';
import { css, disc, shape, tinted, type Painting, type SubjectContext, type Colour } from './painting.ts';
import type { Subject } from './scene.ts';

/** The planet is in the sky already. */
const PAINTERS: Readonly<Record<Exclude<Subject, 'planet'>, (stage: SubjectContext) => void>> = {
  lighthouse: paintLighthouse,
  boat: paintBoat,
  house: paintHouse,
  tree: paintTree,
  birds: paintBirds,
  figure: paintFigure,
  balloon: paintBalloon,
  cat: paintCat,
  cup: paintCup,
  flower: paintFlower,
};

/** Horizontal positions of subjects, in units from the middle. */
const SIDES = [0, 0.42, -0.42, 0.21, -0.21];

/** Paints every subject of the scene onto one layer. */
export function paintSubjects(painting: Painting, onSubject: (subject: string) => void): void {
  const { scene, random, horizon, height } = painting;
  const layer = painting.layer(0.8);
  const x = painting.margin + painting.viewWidth * (0.3 + 0.4 * random());
  const y = scene.ground === 'sea' ? horizon + (height - horizon) * 0.34 : horizon + height * 0.2;
  const ink = css(tinted(scene, [230, 25, painting.isDark ? 4 : 10]));
  for (const [index, subject] of scene.subjects.entries()) {
    layer.fillStyle = ink;
    // Side by side, so that none hides another.
    const place = x + (SIDES[index % SIDES.length] ?? 0) * painting.unit;
    const at = { painting, layer, x: place, y, ink };
    if (isOwn(subject)) PAINTERS[subject](at);
    else if (subject !== 'planet') drawFigure(findFigure(subject), at, scene.named);
    onSubject(subject);
  }
}

function isOwn(subject: Subject | FigureName): subject is keyof typeof PAINTERS {
  return subject in PAINTERS;
}

function paintLighthouse({ painting, layer, x, y, ink }: SubjectContext): void {
  const { unit, isDark } = painting;
  const high = unit * 0.46;
  const wide = unit * 0.075;
  layer.beginPath();
  layer.ellipse(x, y, unit * 0.26, unit * 0.07, 0, 0, Math.PI * 2);
  layer.fill();
  for (let band = 0; band < 6; band += 1) {
    const below = wide * (1 - band * 0.08);
    const above = wide * (1 - (band + 1) * 0.08);
    layer.fillStyle = band % 2 === 1 ? css([6, 65, isDark ? 28 : 45]) : css([30, 20, isDark ? 58 : 88]);
    shape(layer, [
      [x - below / 2, y - (high * band) / 6],
      [x + below / 2, y - (high * band) / 6],
      [x + above / 2, y - (high * (band + 1)) / 6],
      [x - above / 2, y - (high * (band + 1)) / 6],
    ]);
  }
  layer.fillStyle = css([48, 100, 78]);
  layer.fillRect(x - wide * 0.2, y - high - unit * 0.04, wide * 0.4, unit * 0.04);
  layer.fillStyle = ink;
  shape(layer, [
    [x - wide * 0.3, y - high - unit * 0.04],
    [x + wide * 0.3, y - high - unit * 0.04],
    [x, y - high - unit * 0.08],
  ]);
  paintBeam(layer, x, y - high - unit * 0.02, unit);
}

function paintBeam(layer: SKRSContext2D, x: number, y: number, unit: number): void {
  const light = layer.createLinearGradient(x, 0, x + unit * 0.8, 0);
  light.addColorStop(0, 'rgba(255,240,190,.55)');
  light.addColorStop(1, 'rgba(255,240,190,0)');
  layer.fillStyle = light;
  shape(layer, [
    [x, y],
    [x + unit * 0.8, y - unit * 0.16],
    [x + unit * 0.8, y + unit * 0.06],
  ]);
}

function paintBoat({ painting, layer, x, y }: SubjectContext): void {
  const left = x + painting.unit * 0.28;
  const water = y + painting.unit * 0.1;
  const size = painting.unit * 0.13;
  shape(layer, [
    [left - size, water],
    [left + size, water],
    [left + size * 0.7, water + size * 0.35],
    [left - size * 0.7, water + size * 0.35],
  ]);
  layer.fillStyle = css([35, 25, 85]);
  shape(layer, [
    [left, water - size * 1.5],
    [left + size * 0.9, water - size * 0.05],
    [left, water - size * 0.05],
  ]);
}

function paintHouse({ painting, layer, x, y }: SubjectContext): void {
  const size = painting.unit * 0.14;
  layer.fillRect(x - size, y - size, size * 2, size);
  shape(layer, [
    [x - size * 1.2, y - size],
    [x, y - size * 1.8],
    [x + size * 1.2, y - size],
  ]);
  layer.fillStyle = 'rgba(255,220,140,.95)';
  layer.fillRect(x - size * 0.5, y - size * 0.65, size * 0.32, size * 0.35);
  layer.fillRect(x + size * 0.2, y - size * 0.65, size * 0.32, size * 0.35);
}

function paintTree({ painting, layer, x, y, ink }: SubjectContext): void {
  const { unit, random, scene, darkest } = painting;
  const foot = y + unit * 0.1;
  const left = x + unit * 0.22;
  layer.fillStyle = ink;
  layer.fillRect(left - unit * 0.012, foot - unit * 0.22, unit * 0.024, unit * 0.22);
  layer.fillStyle = css(tinted(scene, [110, 35, darkest + 16], 0.2));
  for (let leaf = 0; leaf < 14; leaf += 1) {
    const reach = unit * 0.09;
    disc(
      layer,
      left + (random() - 0.5) * 2 * reach,
      foot - unit * 0.25 + (random() - 0.5) * reach * 1.6,
      unit * 0.05,
    );
  }
}

/** Share of the image's shorter edge that half of a figure takes. */
const HALF = 0.25;

/** Draws a figure with its feet on the ground; in the dark its colours are dim. */
function drawFigure(figure: Figure, { painting, layer, x, y }: SubjectContext, hue: number | null): void {
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
