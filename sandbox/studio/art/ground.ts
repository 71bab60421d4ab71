import type { SKRSContext2D } from '@napi-rs/canvas';

import { css, shape, tinted } from './painting.ts';
import type { Colour, Painting } from './painting.ts';
import type { Scene } from './scene.ts';

/** Paints the ground of the scene, far to near. */
export function paintGround(painting: Painting): void {
  const { ground } = painting.scene;
  if (ground === 'city') return paintCity(painting);
  if (ground === 'forest') return paintForest(painting);
  if (ground === 'none') return;
  if (ground === 'room') return paintRoom(painting);
  paintRidges(painting);
  if (ground === 'sea') paintWater(painting);
}

/** Paints the dark edge of land right in front, where there is land. */
export function paintForeground(painting: Painting): void {
  const { scene, height, unit, isDark } = painting;
  if (['none', 'sea', 'room'].includes(scene.ground)) return;
  const fill = css(tinted(scene, [230, 25, isDark ? 4 : 9]));
  ridge(painting, painting.layer(1), {
    base: height * 0.93,
    rise: unit * 0.1,
    roughness: 2.4,
    number: 31,
    fill,
  });
}

interface Ridge {
  /** The ridge's height above the lower edge is around here, from the top. */
  readonly base: number;
  readonly rise: number;
  readonly roughness: number;
  /** Ridges of different numbers have different shapes. */
  readonly number: number;
  readonly fill: string;
}

function ridge(painting: Painting, layer: SKRSContext2D, line: Ridge): void {
  const { width, height, unit, noise } = painting;
  const points: [number, number][] = [[0, height]];
  for (let x = 0; x <= width; x += 3) {
    const wave = noise((x / unit) * line.roughness + line.number * 17, line.number * 3.1, 5);
    points.push([x, line.base - line.rise * (wave - 0.35)]);
  }
  points.push([width, height]);
  layer.fillStyle = line.fill;
  shape(layer, points);
}

function paintRidges(painting: Painting): void {
  const { scene, horizon, height, unit } = painting;
  const isMountain = scene.ground === 'mountain';
  for (let number = 0; number < (isMountain ? 4 : 2); number += 1) {
    ridge(painting, painting.layer(0.25 + number * 0.2), {
      base: scene.ground === 'sea' ? horizon : horizon + number * height * 0.1,
      rise: unit * (isMountain ? 0.42 : 0.12),
      roughness: scene.ground === 'desert' ? 1.2 : 3,
      number,
      fill: css(tinted(scene, ridgeColour(scene, painting.darkest, number), 0.25)),
    });
  }
}

function ridgeColour({ ground }: Scene, darkest: number, number: number): Colour {
  if (ground === 'desert') return [32, 55, darkest + 40 - number * 9];
  if (ground === 'field') return [110, 38, darkest + 24 - number * 7];
  return [225, 28, darkest + 32 - number * 9];
}

function paintWater(painting: Painting): void {
  const { scene, random, width, height, horizon, unit, darkest } = painting;
  const layer = painting.layer(0.55);
  const gradient = layer.createLinearGradient(0, horizon, 0, height);
  gradient.addColorStop(0, css(tinted(scene, [210, 45, darkest + 40])));
  gradient.addColorStop(1, css(tinted(scene, [220, 60, darkest + 8])));
  layer.fillStyle = gradient;
  layer.fillRect(0, horizon, width, height - horizon);
  for (let glint = 0; glint < 600; glint += 1) {
    const nearness = random() ** 2;
    const length = unit * (0.01 + 0.12 * nearness) * random();
    layer.fillStyle = `rgba(255,245,230,${0.05 + 0.22 * random() * (1 - nearness * 0.5)})`;
    const thickness = Math.max(1, unit * 0.003 * (0.4 + nearness * 2));
    layer.fillRect(random() * width, horizon + nearness * (height - horizon), length, thickness);
  }
}

/** A wall with light from the side, and a table before it. */
function paintRoom(painting: Painting): void {
  const { scene, width, height, horizon, unit, isDark, random } = painting;
  const wall = painting.layer(0.2);
  const light = wall.createLinearGradient(0, 0, width, height * 0.8);
  light.addColorStop(0, css([scene.hue, 32, isDark ? 34 : 84]));
  light.addColorStop(1, css([scene.hue + 18, 30, isDark ? 16 : 58]));
  wall.fillStyle = light;
  wall.fillRect(0, 0, width, height);
  wall.fillStyle = css([scene.hue, 40, isDark ? 45 : 92], 0.35);
  const left = width * (0.15 + 0.3 * random());
  for (const pane of [0, 1])
    shape(wall, [
      [left + pane * unit * 0.26, height * 0.1],
      [left + pane * unit * 0.26 + unit * 0.22, height * 0.06],
      [left + pane * unit * 0.26 + unit * 0.3, height * 0.44],
      [left + pane * unit * 0.26 + unit * 0.08, height * 0.48],
    ]);
  const table = painting.layer(0.6);
  const wood = table.createLinearGradient(0, horizon, 0, height);
  const grain = 18 + random() * 24;
  wood.addColorStop(0, css([grain, 38, isDark ? 24 : 62]));
  wood.addColorStop(1, css([grain, 42, isDark ? 12 : 40]));
  table.fillStyle = wood;
  table.fillRect(0, horizon + height * 0.06, width, height);
}

function paintCity(painting: Painting): void {
  const { random, width, height, horizon, unit, isDark, scene } = painting;
  for (let row = 0; row < 3; row += 1) {
    const layer = painting.layer(0.25 + row * 0.22);
    let x = -random() * unit * 0.1;
    while (x < width) {
      const wide = unit * (0.05 + 0.09 * random()) * (0.7 + row * 0.35);
      const high = height * (0.14 + 0.34 * random() ** 1.5) * (1.15 - row * 0.18);
      const top = horizon + height * 0.1 * row - high;
      layer.fillStyle = css(tinted(scene, [230, 30, isDark ? 24 - row * 7 : 52 - row * 14]));
      layer.fillRect(x, top, wide, height - top);
      if (random() < 0.25) layer.fillRect(x + wide * 0.45, top - unit * 0.06, wide * 0.06, unit * 0.06);
      paintWindows(painting, layer, { x, top, wide, cell: unit * 0.0135 * (1 + row * 0.3) });
      x += wide + unit * 0.006 * random();
    }
  }
}

const NEON_HUES = [320, 190, 275];

function paintWindows(
  { random, height, isDark, scene }: Painting,
  layer: SKRSContext2D,
  house: { readonly x: number; readonly top: number; readonly wide: number; readonly cell: number },
): void {
  const { x: left, top, wide, cell } = house;
  for (let y = top + cell; y < height; y += cell * 1.6) {
    for (let x = left + cell * 0.6; x < left + wide - cell; x += cell * 1.4) {
      if (random() >= (isDark ? 0.34 : 0.12)) continue;
      const neon = NEON_HUES[Math.floor(random() * NEON_HUES.length)] ?? 320;
      const warm = `rgba(255,${190 + Math.floor(random() * 50)},120,${0.35 + 0.5 * random()})`;
      layer.fillStyle = scene.finish === 'neon' ? css([neon, 95, 65], 0.9) : warm;
      layer.fillRect(x, y, cell * 0.7, cell * 0.85);
    }
  }
}

function paintForest(painting: Painting): void {
  const { random, scene, width, horizon, height, unit, darkest } = painting;
  for (let row = 0; row < 4; row += 1) {
    const layer = painting.layer(0.2 + row * 0.2);
    const fill = css(tinted(scene, [140, 30, darkest + 26 - row * 8], 0.2));
    const base = horizon + row * height * 0.11;
    ridge(painting, layer, { base, rise: unit * 0.06, roughness: 2, number: row + 9, fill });
    for (let tree = 0; tree < 60; tree += 1) {
      fir(layer, random() * width, base, unit * (0.14 + 0.16 * random()) * (0.7 + row * 0.3));
    }
  }
}

/** One fir in the colour that the layer has. */
function fir(layer: SKRSContext2D, x: number, base: number, high: number): void {
  const wide = high * 0.36;
  for (let branch = 0; branch < 4; branch += 1) {
    const top = base - high + branch * high * 0.22;
    const reach = (wide * (0.3 + branch * 0.24)) / 2;
    shape(layer, [
      [x, top],
      [x + reach, top + high * 0.36],
      [x - reach, top + high * 0.36],
    ]);
  }
  layer.fillRect(x - wide * 0.05, base - high * 0.15, wide * 0.1, high * 0.4);
}
