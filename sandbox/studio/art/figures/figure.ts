/**
 * Figures of simple shapes. Their room is from -1 to 1 across, and from 0 (the ground) to 2 upwards. A colour is hue,
 * saturation and lightness, or `main`: what the prompt says, else the figure's own.
 */

/** Hue in degrees, saturation and lightness in percent. */
export type Colour = readonly [hue: number, saturation: number, lightness: number];

/** A colour, or a share of the figure's main one: `dark` and `light` are shades of it. */
export type Paint = Colour | 'main' | 'dark' | 'light';

/** One shape. */
export type Part =
  | readonly ['oval', x: number, y: number, rx: number, ry: number, paint: Paint, turn?: number]
  | readonly ['poly', points: readonly number[], paint: Paint]
  | readonly ['line', points: readonly number[], width: number, paint: Paint];

/** A figure: its own colour and its shapes, from the back to the front. */
export interface Figure {
  readonly main: Colour;
  readonly parts: readonly Part[];
  /** Its share of the usual size. */
  readonly size?: number;
  /** How high above the ground it floats, in its own units. */
  readonly lift?: number;
}

/** Of outlines and eyes, of light parts, and of what is made of wood. */
export const INK: Colour = [230, 20, 9];
export const WHITE: Colour = [40, 20, 94];
export const WOOD: Colour = [28, 45, 38];

/** The corners of an upright rectangle. */
export function box(left: number, bottom: number, right: number, top: number): readonly number[] {
  return [left, bottom, right, bottom, right, top, left, top];
}
