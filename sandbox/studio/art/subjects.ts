import type { SKRSContext2D } from '@napi-rs/canvas';

import { paintBalloon, paintBirds, paintCat, paintCup, paintFigure, paintFlower } from './living.ts';
import { css, disc, shape, tinted } from './painting.ts';
import type { Painting, SubjectContext } from './painting.ts';
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
const SIDES = [0, 0.3, -0.3, 0.15, -0.15];

/** Paints every subject of the scene onto one layer. */
export function paintSubjects(easel: Painting, onSubject: (subject: Subject) => void): void {
  const { scene, random, horizon, height } = easel;
  const sheet = easel.layer(0.8);
  const x = easel.margin + easel.viewWidth * (0.3 + 0.4 * random());
  const y = scene.ground === 'sea' ? horizon + (height - horizon) * 0.34 : horizon + height * 0.2;
  const ink = css(tinted(scene, [230, 25, easel.isDark ? 4 : 10]));
  for (const [index, subject] of scene.subjects.entries()) {
    sheet.fillStyle = ink;
    // Side by side, so that none hides another.
    const place = x + (SIDES[index % SIDES.length] ?? 0) * easel.unit;
    if (subject !== 'planet') PAINTERS[subject]({ easel, sheet, x: place, y, ink });
    onSubject(subject);
  }
}

function paintLighthouse({ easel, sheet, x, y, ink }: SubjectContext): void {
  const { unit, isDark } = easel;
  const high = unit * 0.46;
  const wide = unit * 0.075;
  sheet.beginPath();
  sheet.ellipse(x, y, unit * 0.26, unit * 0.07, 0, 0, Math.PI * 2);
  sheet.fill();
  for (let band = 0; band < 6; band += 1) {
    const below = wide * (1 - band * 0.08);
    const above = wide * (1 - (band + 1) * 0.08);
    sheet.fillStyle = band % 2 === 1 ? css([6, 65, isDark ? 28 : 45]) : css([30, 20, isDark ? 58 : 88]);
    shape(sheet, [
      [x - below / 2, y - (high * band) / 6],
      [x + below / 2, y - (high * band) / 6],
      [x + above / 2, y - (high * (band + 1)) / 6],
      [x - above / 2, y - (high * (band + 1)) / 6],
    ]);
  }
  sheet.fillStyle = css([48, 100, 78]);
  sheet.fillRect(x - wide * 0.2, y - high - unit * 0.04, wide * 0.4, unit * 0.04);
  sheet.fillStyle = ink;
  shape(sheet, [
    [x - wide * 0.3, y - high - unit * 0.04],
    [x + wide * 0.3, y - high - unit * 0.04],
    [x, y - high - unit * 0.08],
  ]);
  paintBeam(sheet, x, y - high - unit * 0.02, unit);
}

function paintBeam(sheet: SKRSContext2D, x: number, y: number, unit: number): void {
  const light = sheet.createLinearGradient(x, 0, x + unit * 0.8, 0);
  light.addColorStop(0, 'rgba(255,240,190,.55)');
  light.addColorStop(1, 'rgba(255,240,190,0)');
  sheet.fillStyle = light;
  shape(sheet, [
    [x, y],
    [x + unit * 0.8, y - unit * 0.16],
    [x + unit * 0.8, y + unit * 0.06],
  ]);
}

function paintBoat({ easel, sheet, x, y }: SubjectContext): void {
  const left = x + easel.unit * 0.28;
  const water = y + easel.unit * 0.1;
  const size = easel.unit * 0.13;
  shape(sheet, [
    [left - size, water],
    [left + size, water],
    [left + size * 0.7, water + size * 0.35],
    [left - size * 0.7, water + size * 0.35],
  ]);
  sheet.fillStyle = css([35, 25, 85]);
  shape(sheet, [
    [left, water - size * 1.5],
    [left + size * 0.9, water - size * 0.05],
    [left, water - size * 0.05],
  ]);
}

function paintHouse({ easel, sheet, x, y }: SubjectContext): void {
  const size = easel.unit * 0.14;
  sheet.fillRect(x - size, y - size, size * 2, size);
  shape(sheet, [
    [x - size * 1.2, y - size],
    [x, y - size * 1.8],
    [x + size * 1.2, y - size],
  ]);
  sheet.fillStyle = 'rgba(255,220,140,.95)';
  sheet.fillRect(x - size * 0.5, y - size * 0.65, size * 0.32, size * 0.35);
  sheet.fillRect(x + size * 0.2, y - size * 0.65, size * 0.32, size * 0.35);
}

function paintTree({ easel, sheet, x, y, ink }: SubjectContext): void {
  const { unit, random, scene, darkest } = easel;
  const foot = y + unit * 0.1;
  const left = x + unit * 0.22;
  sheet.fillStyle = ink;
  sheet.fillRect(left - unit * 0.012, foot - unit * 0.22, unit * 0.024, unit * 0.22);
  sheet.fillStyle = css(tinted(scene, [110, 35, darkest + 16], 0.2));
  for (let leaf = 0; leaf < 14; leaf += 1) {
    const reach = unit * 0.09;
    disc(
      sheet,
      left + (random() - 0.5) * 2 * reach,
      foot - unit * 0.25 + (random() - 0.5) * reach * 1.6,
      unit * 0.05,
    );
  }
}
