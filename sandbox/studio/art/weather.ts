import type { SKRSContext2D } from '@napi-rs/canvas';

import { disc } from './painting.ts';
import type { Painting } from './painting.ts';

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
