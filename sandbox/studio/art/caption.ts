import path from 'node:path';

import { GlobalFonts } from '@napi-rs/canvas';
import type { Canvas, SKRSContext2D } from '@napi-rs/canvas';

const FONTS = path.join(import.meta.dirname, '..', 'fonts');
const FAMILIES = {
  'Kiln Sans': [
    'inter-latin-400-normal.woff2',
    'inter-latin-700-normal.woff2',
    'inter-latin-ext-700-normal.woff2',
  ],
  'Kiln CJK': ['noto-sans-sc-chinese-simplified-500-normal.woff2'],
} as const;

/** Registers the bundled fonts, once per process; system fonts are not needed. */
export function registerFonts(): void {
  for (const [family, files] of Object.entries(FAMILIES)) {
    if (GlobalFonts.has(family)) continue;
    for (const file of files) {
      if (GlobalFonts.registerFromPath(path.join(FONTS, file), family) === null) {
        throw new Error(`the font ${file} cannot be read`);
      }
    }
  }
}

const MAX_LINES = 4;

/** Draws a caption at the bottom of the image, over a shadow; as large as three lines allow. */
export function writeCaption(canvas: Canvas, text: string): void {
  // The bundled fonts have no emoji.
  const clean = text.replaceAll(/\p{Extended_Pictographic}|\uFE0F|\u200D/gu, '').trim();
  if (clean === '') return;
  const { width, height } = canvas;
  const unit = Math.min(width, height);
  const brush = canvas.getContext('2d');
  const { lines, size } = fit(brush, clean, { width: width * 0.86, unit });
  const lineHeight = size * 1.28;
  const foot = lineHeight * lines.length + unit * 0.08;
  const shadow = brush.createLinearGradient(0, height - foot - unit * 0.12, 0, height);
  shadow.addColorStop(0, 'rgba(0,0,0,0)');
  shadow.addColorStop(1, 'rgba(0,0,0,.72)');
  brush.fillStyle = shadow;
  brush.fillRect(0, height - foot - unit * 0.12, width, foot + unit * 0.12);
  brush.fillStyle = '#fff';
  brush.textAlign = 'center';
  brush.textBaseline = 'top';
  brush.shadowColor = 'rgba(0,0,0,.6)';
  brush.shadowBlur = size * 0.2;
  for (const [index, line] of lines.entries()) {
    brush.fillText(line.trim(), width / 2, height - foot + unit * 0.03 + index * lineHeight);
  }
  brush.shadowBlur = 0;
}

function fit(
  brush: SKRSContext2D,
  text: string,
  room: { readonly width: number; readonly unit: number },
): { lines: string[]; size: number } {
  let size = room.unit * 0.052;
  let lines = wrap(brush, text, size, room.width);
  while (lines.length > 3 && size > room.unit * 0.022) {
    size *= 0.9;
    lines = wrap(brush, text, size, room.width);
  }
  if (lines.length > MAX_LINES) {
    lines = [...lines.slice(0, MAX_LINES - 1), `${(lines[MAX_LINES - 1] ?? '').trim().slice(0, -1)}…`];
  }
  return { lines, size };
}

/** Longest caption, because measuring long texts is slow. */
const MAX_CHARACTERS = 600;

function wrap(brush: SKRSContext2D, text: string, size: number, width: number): string[] {
  brush.font = `700 ${size}px "Kiln Sans","Kiln CJK"`;
  const input = text.slice(0, MAX_CHARACTERS);
  // Chinese and Japanese break anywhere, other scripts after a space.
  const pieces = /[\u3000-\u9fff\uff00-\uffef]/.test(input) ? Array.from(input) : input.split(/(?<=\s)/);
  const lines = [''];
  for (const piece of pieces) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && brush.measureText(line + piece).width > width) lines.push(piece);
    else lines[lines.length - 1] = line + piece;
  }
  return lines;
}
