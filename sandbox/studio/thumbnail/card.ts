import { createCanvas } from '@napi-rs/canvas';
import type { Canvas } from '@napi-rs/canvas';

import { registerFonts } from '../art/caption.ts';
import type { MediaFacts } from '../types/media-types.ts';

const LONG_EDGE = 320;
const SHORTEST_EDGE = 120;

/** Draws a card with the facts of a file that can't be decoded, with the aspect ratio of its pictures. */
export function drawCard(facts: MediaFacts): Canvas {
  const { width, height } = cardSize(facts);
  const canvas = createCanvas(width, height);
  const brush = canvas.getContext('2d');
  const shade = brush.createLinearGradient(0, 0, width, height);
  shade.addColorStop(0, '#26324a');
  shade.addColorStop(1, '#101521');
  brush.fillStyle = shade;
  brush.fillRect(0, 0, width, height);
  brush.fillStyle = 'rgba(255,255,255,.16)';
  brush.beginPath();
  brush.arc(width / 2, height * 0.36, Math.min(width, height) * 0.2, 0, Math.PI * 2);
  brush.fill();
  drawSign(canvas, facts.kind);
  registerFonts();
  const lines = writeLines(facts);
  const size = Math.min(width / 13, height / 9);
  brush.fillStyle = '#fff';
  brush.textAlign = 'center';
  for (const [index, line] of lines.entries()) {
    brush.font = `${index === 0 ? 700 : 400} ${size}px "Kiln Sans","Kiln CJK"`;
    brush.fillText(line, width / 2, height * 0.72 + index * size * 1.3, width * 0.92);
  }
  return canvas;
}

/** A triangle for videos, bars for sounds. */
function drawSign(canvas: Canvas, kind: MediaFacts['kind']): void {
  const { width, height } = canvas;
  const brush = canvas.getContext('2d');
  const unit = Math.min(width, height) * 0.09;
  const [x, y] = [width / 2, height * 0.36];
  brush.fillStyle = '#fff';
  if (kind === 'audio') {
    for (const [index, tall] of [0.7, 1.4, 1, 1.8, 0.8].entries()) {
      brush.fillRect(x + (index - 2.4) * unit * 0.6, y - (tall * unit) / 2, unit * 0.35, tall * unit);
    }
    return;
  }
  brush.beginPath();
  brush.moveTo(x - unit * 0.7, y - unit);
  brush.lineTo(x + unit * 1.1, y);
  brush.lineTo(x - unit * 0.7, y + unit);
  brush.fill();
}

function writeLines({ container, duration, width, height, videoCodec, audioCodec }: MediaFacts): string[] {
  const size = width === null || height === null ? [] : [`${width}x${height}`];
  const seconds = duration === null ? [] : [`${Math.round(duration * 10) / 10} s`];
  const codecs = [videoCodec, audioCodec].filter((codec) => codec !== null);
  return [[container.toUpperCase(), ...size].join(' '), [...seconds, ...codecs].join(' · ')];
}

function cardSize({ width, height }: MediaFacts): { width: number; height: number } {
  const ratio = width === null || height === null || width * height === 0 ? 16 / 9 : width / height;
  const short = Math.round(Math.max(SHORTEST_EDGE, LONG_EDGE * Math.min(ratio, 1 / ratio)));
  return ratio >= 1 ? { width: LONG_EDGE, height: short } : { width: short, height: LONG_EDGE };
}
