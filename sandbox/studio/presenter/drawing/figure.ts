import type { SKRSContext2D } from '@napi-rs/canvas';

import { css } from '../../art/painting.ts';
import type { Colour } from '../../art/painting.ts';
import { drawFace } from './face.ts';
import type { Look, Pose } from './look.ts';

/** Where the presenter's head is, in pixels. */
export interface FigurePlace {
  readonly x: number;
  readonly y: number;
  /** Half of the head's height. */
  readonly radius: number;
}

const ROUND = Math.PI * 2;

/** The colour, lighter by so many percent; darker when negative. */
function lighter([hue, saturation, lightness]: Colour, by: number): Colour {
  return [hue, saturation, Math.max(0, Math.min(100, lightness + by))];
}

/** A person from the chest up: it breathes, and the head sways and nods with the voice. */
export function drawFigure(brush: SKRSContext2D, place: FigurePlace, look: Look, pose: Pose): void {
  const { radius } = place;
  brush.save();
  brush.translate(place.x, place.y + Math.sin(pose.seconds * 1.9) * radius * 0.012);
  if (look.hairStyle === 'long') {
    // Behind neck and shoulders.
    brush.save();
    turnHead(brush, radius, pose);
    brush.fillStyle = css(lighter(look.hair, -4));
    drawOval(brush, { x: 0, y: radius * 0.3, across: radius, down: radius * 1.35 });
    brush.restore();
  }
  drawShoulders(brush, radius, look);
  turnHead(brush, radius, pose);
  drawHead(brush, radius, look);
  drawFace(brush, radius, look, pose);
  drawFringe(brush, radius, look);
  brush.restore();
}

/** The head turns on the neck, not on its middle. */
function turnHead(brush: SKRSContext2D, radius: number, { mouth, seconds }: Pose): void {
  const neck = radius * 0.9;
  brush.translate(Math.sin(seconds * 0.6) * radius * 0.03, neck + mouth.level * radius * 0.02);
  brush.rotate(Math.sin(seconds * 0.8) * 0.03 + (mouth.level - 0.3) * 0.02);
  brush.translate(0, -neck);
}

interface Oval {
  readonly x: number;
  readonly y: number;
  readonly across: number;
  readonly down: number;
}

function drawOval(brush: SKRSContext2D, { x, y, across, down }: Oval): void {
  brush.beginPath();
  brush.ellipse(x, y, across, down, 0, 0, ROUND);
  brush.fill();
}

function drawShoulders(brush: SKRSContext2D, radius: number, { shirt, skin }: Look): void {
  const cloth = brush.createLinearGradient(0, radius, 0, radius * 3.4);
  cloth.addColorStop(0, css(lighter(shirt, 6)));
  cloth.addColorStop(1, css(lighter(shirt, -14)));
  brush.fillStyle = cloth;
  brush.beginPath();
  brush.moveTo(-radius * 1.9, radius * 6);
  brush.lineTo(-radius * 1.8, radius * 2.5);
  brush.bezierCurveTo(-radius * 1.6, radius * 1.6, -radius * 0.7, radius * 1.5, 0, radius * 1.45);
  brush.bezierCurveTo(radius * 0.7, radius * 1.5, radius * 1.6, radius * 1.6, radius * 1.8, radius * 2.5);
  brush.lineTo(radius * 1.9, radius * 6);
  brush.fill();
  brush.fillStyle = css(lighter(skin, -9));
  brush.beginPath();
  brush.moveTo(-radius * 0.3, radius * 0.6);
  brush.lineTo(-radius * 0.36, radius * 1.45);
  brush.quadraticCurveTo(0, radius * 2, radius * 0.36, radius * 1.45);
  brush.lineTo(radius * 0.3, radius * 0.6);
  brush.fill();
}

function drawHead(brush: SKRSContext2D, radius: number, { skin, hair, hairStyle }: Look): void {
  const oval = (x: number, y: number, across: number, down: number) =>
    drawOval(brush, { x: x * radius, y: y * radius, across: across * radius, down: down * radius });
  brush.fillStyle = css(lighter(hair, -4));
  if (hairStyle === 'bun') oval(0, -1.12, 0.36, 0.32);
  oval(0, -0.2, 0.9, 0.9);
  brush.fillStyle = css(lighter(skin, -5));
  for (const side of [-1, 1]) oval(side * 0.8, 0.05, 0.11, 0.2);
  const light = brush.createRadialGradient(-radius * 0.25, -radius * 0.3, radius * 0.2, 0, 0, radius * 1.15);
  light.addColorStop(0, css(lighter(skin, 6)));
  light.addColorStop(1, css(lighter(skin, -7)));
  brush.fillStyle = light;
  brush.beginPath();
  brush.moveTo(-radius * 0.8, -radius * 0.1);
  brush.bezierCurveTo(
    -radius * 0.8,
    -radius * 1.25,
    radius * 0.8,
    -radius * 1.25,
    radius * 0.8,
    -radius * 0.1,
  );
  brush.bezierCurveTo(radius * 0.8, radius * 0.62, radius * 0.42, radius, 0, radius);
  brush.bezierCurveTo(-radius * 0.42, radius, -radius * 0.8, radius * 0.62, -radius * 0.8, -radius * 0.1);
  brush.fill();
}

function drawFringe(brush: SKRSContext2D, radius: number, { hair }: Look): void {
  brush.fillStyle = css(hair);
  brush.beginPath();
  brush.moveTo(-radius * 0.86, -radius * 0.12);
  brush.bezierCurveTo(
    -radius * 1.02,
    -radius * 1.42,
    radius * 1.02,
    -radius * 1.42,
    radius * 0.86,
    -radius * 0.12,
  );
  brush.bezierCurveTo(
    radius * 0.78,
    -radius * 0.5,
    radius * 0.55,
    -radius * 0.62,
    radius * 0.3,
    -radius * 0.66,
  );
  brush.bezierCurveTo(
    -radius * 0.1,
    -radius * 0.72,
    -radius * 0.62,
    -radius * 0.62,
    -radius * 0.86,
    -radius * 0.12,
  );
  brush.fill();
}
