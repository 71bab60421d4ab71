import type { Measures } from './measure.ts';
import type { Swatch } from './palette.ts';

/** The facts of a description. */
export interface Facts {
  readonly width: number;
  readonly height: number;
  readonly format: string;
  readonly palette: readonly Swatch[];
  readonly measures: Measures;
  /** What the file says about itself. */
  readonly ownDescription: string | null;
}

/** A sentence with the measurements. */
export function writeCaption(facts: Facts): string {
  const { width, height, format, measures } = facts;
  const { x, y } = measures.centre;
  const shape = nameShape(width, height);
  const high = level(
    y,
    [
      [0.44, 'high'],
      [0.56, 'middle'],
    ],
    'low',
  );
  const side = level(
    x,
    [
      [0.44, 'left'],
      [0.56, 'middle'],
    ],
    'right',
  );
  const place = [high, side].filter((word) => word !== 'middle').join(' ');
  return [
    `${shape.charAt(0).toUpperCase()}${shape.slice(1)} ${width}x${height} ${format} image`,
    `${tone(measures)}, ${contrast(measures)}, ${chroma(measures)} ${warmth(measures)} palette of ${listed(listColours(facts))}`,
    `${texture(measures)} composition, detail ${place === '' ? 'centred' : `concentrated ${place}`}`,
  ].join('; ');
}

/** Four prompts that could lead to such an image, from plain to elaborate. */
export function writePrompts(facts: Facts): string[] {
  const { measures } = facts;
  const colours = listColours(facts);
  const shape = nameShape(facts.width, facts.height);
  const ratio = `--ar ${toRatio(facts.width, facts.height)}`;
  const what = facts.ownDescription ?? `an abstract ${shape} scene`;
  const light = `${tone(measures)} ${warmth(measures)} lighting`;
  const fall = level(
    measures.fall,
    [
      [-0.15, 'darker above, lighter below'],
      [0.15, 'even light'],
    ],
    'lighter above, darker below',
  );
  return [
    `${what}, ${colours.join(', ')} palette, ${light} ${ratio}`,
    `${what}, ${texture(measures)} composition, ${contrast(measures)}, ${light} ${ratio}`,
    `${what} in ${listed(colours)}, ${fall}, ${chroma(measures)} colours ${ratio}`,
    `${what}, ${shape} format, ${tone(measures)}, ${chroma(measures)}, ${texture(measures)}, dominant ${colours[0] ?? 'grey'} ${ratio}`,
  ];
}

type Steps = readonly (readonly [below: number, word: string])[];

/** The word of the first threshold above the value, else the last word. */
function level(value: number, steps: Steps, otherwise: string): string {
  return steps.find(([below]) => value < below)?.[1] ?? otherwise;
}

function tone({ brightness }: Measures): string {
  return level(
    brightness,
    [
      [0.22, 'dark'],
      [0.42, 'low-key'],
      [0.62, 'mid-toned'],
    ],
    'bright',
  );
}

function contrast(measures: Measures): string {
  return level(
    measures.contrast,
    [
      [0.12, 'low-contrast'],
      [0.24, 'moderate-contrast'],
    ],
    'high-contrast',
  );
}

function chroma(measures: Measures): string {
  return level(
    measures.chroma,
    [
      [0.02, 'nearly monochrome'],
      [0.07, 'muted'],
      [0.13, 'colourful'],
    ],
    'vivid',
  );
}

function warmth(measures: Measures): string {
  return level(
    measures.warmth,
    [
      [-0.06, 'cool'],
      [0.06, 'neutral'],
    ],
    'warm',
  );
}

function texture({ edges }: Measures): string {
  return level(
    edges,
    [
      [0.03, 'smooth'],
      [0.12, 'moderately detailed'],
    ],
    'densely detailed',
  );
}

function nameShape(width: number, height: number): string {
  return level(
    width / height,
    [
      [0.58, 'tall portrait'],
      [0.98, 'portrait'],
      [1.02, 'square'],
      [2, 'landscape'],
    ],
    'panoramic',
  );
}

function listColours({ palette }: Facts): string[] {
  return [...new Set(palette.map(({ name }) => name))].slice(0, 4);
}

function listed(words: readonly string[]): string {
  return words.length > 1 ? `${words.slice(0, -1).join(', ')} and ${words.at(-1)}` : (words[0] ?? 'grey');
}

/** The ratio in small integers, with half a percent tolerance: 1024x682 is 3:2. */
function toRatio(width: number, height: number): string {
  const ratio = width / height;
  for (let high = 1; high <= 20; high += 1) {
    const wide = Math.max(1, Math.round(ratio * high));
    if (Math.abs(wide / high / ratio - 1) < 0.005) return `${wide}:${high}`;
  }
  return `${width}:${height}`;
}
