import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';

import { css, disc, tinted, type Colour, type Painting } from './painting.ts';
import type { Scene } from './scene.ts';

/** Top, middle and horizon of the sky. */
const SKIES: Readonly<Record<Scene['time'], readonly [Colour, Colour, Colour]>> = {
  dawn: [
    [245, 40, 30],
    [330, 45, 55],
    [25, 85, 70],
  ],
  dusk: [
    [265, 45, 22],
    [345, 60, 45],
    [28, 90, 58],
  ],
  day: [
    [212, 65, 48],
    [204, 65, 66],
    [195, 55, 84],
  ],
  night: [
    [232, 55, 8],
    [228, 50, 16],
    [222, 42, 28],
  ],
  space: [
    [265, 60, 5],
    [280, 55, 11],
    [240, 55, 16],
  ],
};

/** Paints the sky with its lights. */
export function paintSky(painting: Painting): void {
  const { scene, width, height } = painting;
  const layer = painting.layer(0);
  const end = skyEnd(painting);
  const gradient = layer.createLinearGradient(0, 0, 0, end);
  for (const [index, colour] of SKIES[scene.time].entries()) {
    gradient.addColorStop(index / 2, css(tinted(scene, colour)));
  }
  layer.fillStyle = gradient;
  layer.fillRect(0, 0, width, height);
  if (painting.isDark || scene.weather === 'stars') paintStars(painting, layer);
  if (scene.time !== 'space') paintSunOrMoon(painting, layer);
  if (scene.time === 'space' || scene.subjects.includes('planet')) paintPlanet(painting, layer);
}

/** Without ground the sky fills the image. */
function skyEnd({ scene, height, horizon }: Painting): number {
  return scene.ground === 'none' ? height : horizon;
}

function paintStars(painting: Painting, layer: SKRSContext2D): void {
  const { random, width, unit } = painting;
  for (let star = 0; star < 420; star += 1) {
    const y = random() * skyEnd(painting);
    layer.fillStyle = `rgba(255,255,255,${0.3 + 0.7 * random()})`;
    disc(layer, random() * width, y, unit * (0.0008 + 0.0022 * random() ** 4));
  }
}

function paintSunOrMoon(painting: Painting, layer: SKRSContext2D): void {
  const { random, horizon, isDark, unit, width, height, scene } = painting;
  const x = painting.margin + painting.viewWidth * (0.25 + 0.5 * random());
  const sunHeight = scene.time === 'day' ? 0.25 : 0.72;
  const y = horizon * (isDark ? 0.2 + 0.25 * random() : sunHeight);
  const radius = unit * (isDark ? 0.06 : 0.09);
  const glow = layer.createRadialGradient(x, y, radius * 0.6, x, y, radius * 5);
  const colour: Colour = isDark ? [210, 30, 85] : [42, 95, 78];
  glow.addColorStop(0, css(colour, 0.75));
  glow.addColorStop(1, css(colour, 0));
  layer.fillStyle = glow;
  layer.fillRect(0, 0, width, height);
  layer.fillStyle = css(isDark ? [50, 25, 92] : [45, 100, 88]);
  disc(layer, x, y, radius);
}

function paintPlanet(painting: Painting, layer: SKRSContext2D): void {
  const { random, unit, scene } = painting;
  const x = painting.margin + painting.viewWidth * (0.3 + 0.4 * random());
  const y = painting.height * (0.3 + 0.3 * random());
  const radius = unit * 0.2;
  const ball = layer.createRadialGradient(x - radius * 0.4, y - radius * 0.4, radius * 0.1, x, y, radius);
  ball.addColorStop(0, css([scene.hue, 70, 75]));
  ball.addColorStop(1, css([scene.hue + 30, 70, 14]));
  layer.fillStyle = ball;
  disc(layer, x, y, radius);
  layer.strokeStyle = css([scene.hue + 40, 60, 75], 0.7);
  layer.lineWidth = unit * 0.012;
  layer.beginPath();
  layer.ellipse(x, y, radius * 1.7, radius * 0.4, -0.35, 0, Math.PI * 2);
  layer.stroke();
}

const CLOUD_GRID = 320;

/** Paints clouds: noise on a coarse grid, drawn large. */
export function paintClouds(painting: Painting): void {
  const { noise, width, height, horizon, scene } = painting;
  const layer = painting.layer(0.2);
  const rows = Math.max(1, Math.round((CLOUD_GRID * height) / width));
  const grid = createCanvas(CLOUD_GRID, rows);
  const brush = grid.getContext('2d');
  const image = brush.createImageData(CLOUD_GRID, rows);
  const [red, green, blue] = cloudColour(painting);
  const density = scene.weather === 'clear' ? 0.8 : 1.3;
  for (let y = 0; y < rows; y += 1) {
    const fade = Math.min(1, Math.max(0, 1 - y / rows / (horizon / height)) * 2.2);
    for (let x = 0; x < CLOUD_GRID; x += 1) {
      const cover = Math.max(0, noise(x / 46, y / 20 + 7, 5) - 0.47) * 4 * fade * density;
      image.data.set([red, green, blue, Math.min(215, cover * 255)], (y * CLOUD_GRID + x) * 4);
    }
  }
  brush.putImageData(image, 0, 0);
  layer.imageSmoothingEnabled = true;
  layer.imageSmoothingQuality = 'high';
  layer.drawImage(grid, 0, 0, width, height);
}

function cloudColour({ isDark, scene }: Painting): readonly [number, number, number] {
  if (isDark) return [86, 96, 143];
  return scene.time === 'day' ? [255, 255, 255] : [245, 216, 202];
}

/** Paints rain, snow or fog in front of everything; a clear day has nothing to paint. */
export function paintWeather(painting: Painting): void {
  const { weather } = painting.scene;
  if (weather === 'fog') return paintFog(painting, painting.layer(1.3));
  if (weather !== 'rain' && weather !== 'snow') return;
  const { random, width, height, unit } = painting;
  const layer = painting.layer(1.3);
  for (let drop = 0; drop < 500; drop += 1) {
    const x = random() * width;
    const y = random() * height;
    const size = unit * (0.002 + 0.004 * random());
    if (weather === 'snow') {
      layer.fillStyle = `rgba(255,255,255,${0.4 + 0.6 * random()})`;
      disc(layer, x, y, size);
    } else {
      layer.strokeStyle = `rgba(210,225,255,${0.15 + 0.3 * random()})`;
      layer.lineWidth = size * 0.45;
      layer.beginPath();
      layer.moveTo(x, y);
      layer.lineTo(x - size * 3, y + size * 12);
      layer.stroke();
    }
  }
}

function paintFog({ horizon, width, height }: Painting, layer: SKRSContext2D): void {
  const gradient = layer.createLinearGradient(0, horizon - height * 0.2, 0, height);
  gradient.addColorStop(0, 'rgba(230,232,240,0)');
  gradient.addColorStop(0.5, 'rgba(230,232,240,.6)');
  gradient.addColorStop(1, 'rgba(230,232,240,.25)');
  layer.fillStyle = gradient;
  layer.fillRect(0, 0, width, height);
}
