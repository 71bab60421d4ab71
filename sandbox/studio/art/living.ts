import { css, disc, shape } from './painting.ts';
import type { SubjectContext } from './painting.ts';

/** Paints a flock. */
export function paintBirds({ painting, layer, ink }: SubjectContext): void {
  const { unit, random, horizon } = painting;
  layer.strokeStyle = ink;
  layer.lineWidth = unit * 0.004;
  for (let bird = 0; bird < 9; bird += 1) {
    const x = painting.margin + random() * painting.viewWidth;
    const y = horizon * (0.2 + 0.5 * random());
    const wing = unit * (0.012 + 0.016 * random());
    layer.beginPath();
    layer.arc(x - wing, y, wing, Math.PI * 1.15, Math.PI * 1.9);
    layer.stroke();
    layer.beginPath();
    layer.arc(x + wing, y, wing, Math.PI * 1.1, Math.PI * 1.85);
    layer.stroke();
  }
}

/** Paints a standing person. */
export function paintFigure({ painting, layer, x, y }: SubjectContext): void {
  const high = painting.unit * 0.26;
  const left = x - painting.unit * 0.16;
  const foot = y + painting.unit * 0.16;
  disc(layer, left, foot - high, high * 0.11);
  shape(layer, [
    [left - high * 0.13, foot - high * 0.86],
    [left + high * 0.13, foot - high * 0.86],
    [left + high * 0.2, foot - high * 0.25],
    [left + high * 0.1, foot],
    [left - high * 0.1, foot],
    [left - high * 0.2, foot - high * 0.25],
  ]);
}

/** Paints a hot-air balloon in the scene's hue. */
export function paintBalloon({ painting, layer, x, ink }: SubjectContext): void {
  const { unit, horizon, scene } = painting;
  const left = x + unit * 0.1;
  const y = horizon * 0.45;
  const radius = unit * 0.09;
  layer.fillStyle = css([scene.hue, 75, 55]);
  disc(layer, left, y, radius);
  layer.fillStyle = css([scene.hue + 40, 75, 70], 0.8);
  layer.beginPath();
  layer.ellipse(left, y, radius * 0.4, radius, 0, 0, Math.PI * 2);
  layer.fill();
  layer.fillStyle = ink;
  layer.fillRect(left - radius * 0.16, y + radius * 1.35, radius * 0.32, radius * 0.22);
}

/** Paints a sitting cat, from behind. */
export function paintCat({ painting, layer, x, y }: SubjectContext): void {
  const size = painting.unit * 0.1;
  const middle = y + painting.unit * 0.12;
  layer.beginPath();
  layer.ellipse(x, middle, size * 0.7, size, 0, 0, Math.PI * 2);
  layer.fill();
  disc(layer, x, middle - size * 1.25, size * 0.55);
  for (const side of [-1, 1]) {
    shape(layer, [
      [x + side * size * 0.5, middle - size * 1.3],
      [x + side * size * 0.45, middle - size * 2.05],
      [x + side * size * 0.05, middle - size * 1.7],
    ]);
  }
}

/** Paints a steaming cup. */
export function paintCup({ painting, layer, x, y }: SubjectContext): void {
  const { unit, scene, random } = painting;
  const size = unit * 0.13;
  const top = y - size * 0.3;
  layer.fillStyle = css([scene.hue, 35, 88]);
  shape(layer, [
    [x - size, top],
    [x + size, top],
    [x + size * 0.65, top + size * 1.2],
    [x - size * 0.65, top + size * 1.2],
  ]);
  layer.strokeStyle = css([scene.hue, 35, 82]);
  layer.lineWidth = size * 0.16;
  layer.beginPath();
  layer.arc(x + size * 0.95, top + size * 0.5, size * 0.32, -Math.PI / 2, Math.PI / 2);
  layer.stroke();
  layer.fillStyle = css([28, 60, 28]);
  layer.beginPath();
  layer.ellipse(x, top, size, size * 0.2, 0, 0, Math.PI * 2);
  layer.fill();
  layer.strokeStyle = 'rgba(255,255,255,.45)';
  layer.lineWidth = size * 0.07;
  for (const plume of [-0.4, 0, 0.4]) {
    const bend = size * (0.2 + 0.2 * random());
    layer.beginPath();
    layer.moveTo(x + plume * size, top - size * 0.2);
    layer.bezierCurveTo(
      x + plume * size + bend,
      top - size * 0.6,
      x + plume * size - bend,
      top - size,
      x + plume * size,
      top - size * 1.5,
    );
    layer.stroke();
  }
}

/** Paints a bunch of flowers in the scene's hue. */
export function paintFlower({ painting, layer, x, y }: SubjectContext): void {
  const { unit, scene, random } = painting;
  const foot = y + unit * 0.12;
  for (let flower = 0; flower < 7; flower += 1) {
    const left = x + (random() - 0.5) * unit * 0.4;
    const head = foot - unit * (0.1 + 0.14 * random());
    layer.strokeStyle = css([120, 40, 25]);
    layer.lineWidth = unit * 0.006;
    layer.beginPath();
    layer.moveTo(left, foot);
    layer.lineTo(left, head);
    layer.stroke();
    layer.fillStyle = css([scene.hue + random() * 50 - 25, 75, 65]);
    for (let petal = 0; petal < 6; petal += 1) {
      const angle = (petal / 6) * Math.PI * 2;
      disc(layer, left + Math.cos(angle) * unit * 0.02, head + Math.sin(angle) * unit * 0.02, unit * 0.014);
    }
    layer.fillStyle = css([48, 95, 60]);
    disc(layer, left, head, unit * 0.012);
  }
}
