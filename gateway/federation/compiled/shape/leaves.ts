import { isCustomScalarType, isEnumType, type OutputType } from '@apollo/federation-internals';

import { deviate } from './deviation.ts';
import type { Shape } from './shapes.ts';

/** A value of a leaf type as it is, null for null; anything that Apollo would not let pass deviates. */
export function leafShape(type: OutputType): Shape {
  if (isCustomScalarType(type as never)) return (value) => (value === undefined ? null : value);
  if (isEnumType(type)) return enumShape(new Set(type.values.map(({ name }) => name)));
  return 'name' in type ? (SCALARS[type.name] ?? deviate) : deviate;
}

function enumShape(values: ReadonlySet<unknown>): Shape {
  return (value) => (value === undefined || value === null ? null : values.has(value) ? value : deviate());
}

// Numbers from here on are written with an exponent, which Apollo takes for no integer.
const LARGE = 1e21;

function isInteger(value: unknown): boolean {
  return Number.isInteger(value) && Math.abs(value as number) < LARGE;
}

/** Each a function of its own, so that V8 can inline it where it is used. */
const SCALARS: Readonly<Record<string, Shape>> = {
  Boolean: (value) =>
    typeof value === 'boolean' ? value : value === undefined || value === null ? null : deviate(),
  Int: (value) => (isInteger(value) ? value : value === undefined || value === null ? null : deviate()),
  Float: (value) =>
    Number.isFinite(value) ? value : value === undefined || value === null ? null : deviate(),
  ID: (value) =>
    typeof value === 'string' || isInteger(value)
      ? value
      : value === undefined || value === null
        ? null
        : deviate(),
  String: (value) =>
    typeof value === 'string' ? value : value === undefined || value === null ? null : deviate(),
};
