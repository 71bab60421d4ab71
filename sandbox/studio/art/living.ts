import { css, disc, shape } from './painting.ts';
import type { SubjectContext } from './painting.ts';

/** Paints a flock. */
export function paintBirds({ easel, sheet, ink }: SubjectContext): void {
  const { unit, random, horizon } = easel;
  sheet.strokeStyle = ink;
  sheet.lineWidth = unit * 0.004;
  for (let bird = 0; bird < 9; bird += 1) {
    const x = easel.margin + random() * easel.viewWidth;
    const y = horizon * (0.2 + 0.5 * random());
    const wing = unit * (0.012 + 0.016 * random());
    sheet.beginPath();
    sheet.arc(x - wing, y, wing, Math.PI * 1.15, Math.PI * 1.9);
    sheet.stroke();
    sheet.beginPath();
    sheet.arc(x + wing, y, wing, Math.PI * 1.1, Math.PI * 1.85);
    sheet.stroke();
  }
}

/** Paints a standing person. */
export function paintFigure({ easel, sheet, x, y }: SubjectContext): void {
  const high = easel.unit * 0.26;
  const left = x - easel.unit * 0.16;
  const foot = y + easel.unit * 0.16;
  disc(sheet, left, foot - high, high * 0.11);
  shape(sheet, [
    [left - high * 0.13, foot - high * 0.86],
    [left + high * 0.13, foot - high * 0.86],
    [left + high * 0.2, foot - high * 0.25],
    [left + high * 0.1, foot],
    [left - high * 0.1, foot],
    [left - high * 0.2, foot - high * 0.25],
  ]);
}

/** Paints a hot-air balloon in the scene's hue. */
export function paintBalloon({ easel, sheet, x, ink }: SubjectContext): void {
  const { unit, horizon, scene } = easel;
  const left = x + unit * 0.1;
  const y = horizon * 0.45;
  const radius = unit * 0.09;
  sheet.fillStyle = css([scene.hue, 75, 55]);
  disc(sheet, left, y, radius);
  sheet.fillStyle = css([scene.hue + 40, 75, 70], 0.8);
  sheet.beginPath();
  sheet.ellipse(left, y, radius * 0.4, radius, 0, 0, Math.PI * 2);
  sheet.fill();
  sheet.fillStyle = ink;
  sheet.fillRect(left - radius * 0.16, y + radius * 1.35, radius * 0.32, radius * 0.22);
}

/** Paints a sitting cat, from behind. */
export function paintCat({ easel, sheet, x, y }: SubjectContext): void {
  const size = easel.unit * 0.1;
  const middle = y + easel.unit * 0.12;
  sheet.beginPath();
  sheet.ellipse(x, middle, size * 0.7, size, 0, 0, Math.PI * 2);
  sheet.fill();
  disc(sheet, x, middle - size * 1.25, size * 0.55);
  for (const side of [-1, 1]) {
    shape(sheet, [
      [x + side * size * 0.5, middle - size * 1.3],
      [x + side * size * 0.45, middle - size * 2.05],
      [x + side * size * 0.05, middle - size * 1.7],
    ]);
  }
}

/** Paints a steaming cup. */
export function paintCup({ easel, sheet, x, y }: SubjectContext): void {
  const { unit, scene, random } = easel;
  const size = unit * 0.13;
  const top = y - size * 0.3;
  sheet.fillStyle = css([scene.hue, 35, 88]);
  shape(sheet, [
    [x - size, top],
    [x + size, top],
    [x + size * 0.65, top + size * 1.2],
    [x - size * 0.65, top + size * 1.2],
  ]);
  sheet.strokeStyle = css([scene.hue, 35, 82]);
  sheet.lineWidth = size * 0.16;
  sheet.beginPath();
  sheet.arc(x + size * 0.95, top + size * 0.5, size * 0.32, -Math.PI / 2, Math.PI / 2);
  sheet.stroke();
  sheet.fillStyle = css([28, 60, 28]);
  sheet.beginPath();
  sheet.ellipse(x, top, size, size * 0.2, 0, 0, Math.PI * 2);
  sheet.fill();
  sheet.strokeStyle = 'rgba(255,255,255,.45)';
  sheet.lineWidth = size * 0.07;
  for (const plume of [-0.4, 0, 0.4]) {
    const bend = size * (0.2 + 0.2 * random());
    sheet.beginPath();
    sheet.moveTo(x + plume * size, top - size * 0.2);
    sheet.bezierCurveTo(
      x + plume * size + bend,
      top - size * 0.6,
      x + plume * size - bend,
      top - size,
      x + plume * size,
      top - size * 1.5,
    );
    sheet.stroke();
  }
}

/** Paints a bunch of flowers in the scene's hue. */
export function paintFlower({ easel, sheet, x, y }: SubjectContext): void {
  const { unit, scene, random } = easel;
  const foot = y + unit * 0.12;
  for (let flower = 0; flower < 7; flower += 1) {
    const left = x + (random() - 0.5) * unit * 0.4;
    const head = foot - unit * (0.1 + 0.14 * random());
    sheet.strokeStyle = css([120, 40, 25]);
    sheet.lineWidth = unit * 0.006;
    sheet.beginPath();
    sheet.moveTo(left, foot);
    sheet.lineTo(left, head);
    sheet.stroke();
    sheet.fillStyle = css([scene.hue + random() * 50 - 25, 75, 65]);
    for (let petal = 0; petal < 6; petal += 1) {
      const angle = (petal / 6) * Math.PI * 2;
      disc(sheet, left + Math.cos(angle) * unit * 0.02, head + Math.sin(angle) * unit * 0.02, unit * 0.014);
    }
    sheet.fillStyle = css([48, 95, 60]);
    disc(sheet, left, head, unit * 0.012);
  }
}
