import { createCanvas } from '@napi-rs/canvas';
import type { Canvas } from '@napi-rs/canvas';

import type { Sound } from '../sound/sound.ts';

const WIDTH = 320;
const HEIGHT = 120;
const BAR = 4;

/** The loudness of a sound from left to right; the loudest bar fills the height. */
export function drawWaveform({ samples }: Sound): Canvas {
  const canvas = createCanvas(WIDTH, HEIGHT);
  const brush = canvas.getContext('2d');
  brush.fillStyle = '#101521';
  brush.fillRect(0, 0, WIDTH, HEIGHT);
  brush.fillStyle = '#7fb2ff';
  const bars = WIDTH / BAR;
  const peaks = Array.from({ length: bars }, (_value, bar) => {
    const start = Math.floor((bar * samples.length) / bars);
    const end = Math.floor(((bar + 1) * samples.length) / bars);
    return samples.subarray(start, end).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  });
  const loudest = Math.max(...peaks, 0.01);
  for (const [bar, peak] of peaks.entries()) {
    const tall = Math.max(2, (peak / loudest) * (HEIGHT - 16));
    brush.fillRect(bar * BAR, (HEIGHT - tall) / 2, BAR - 1, tall);
  }
  return canvas;
}
