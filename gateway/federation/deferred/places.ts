import type { GraphQLError } from 'graphql';

import type { ErrorPath } from '../compiled/fetch-errors.ts';

/** Where parts stand in an answer. Pure. */

/** The places of objects that a path of names leads to, through lists. */
export function placesOf(data: unknown, names: readonly string[], from: ErrorPath = []): ErrorPath[] {
  if (typeof data !== 'object' || data === null) return [];
  if (Array.isArray(data))
    return data.flatMap((one: unknown, index) => placesOf(one, names, [...from, index]));
  const [name, ...further] = names;
  if (name === undefined) return [from];
  if (!Object.hasOwn(data, name)) return [];
  return placesOf((data as Record<string, unknown>)[name], further, [...from, name]);
}

/** The data that leads to one place and nowhere else: every list on the way has one element. */
export function narrowed(data: unknown, place: ErrorPath): unknown {
  const [step, ...further] = place;
  if (step === undefined || typeof data !== 'object' || data === null) return data;
  if (Array.isArray(data)) return [narrowed(data[Number(step)], further)];
  const { [step]: inner, __typename } = data as Record<string, unknown>;
  return { ...(__typename !== undefined && { __typename }), [step]: narrowed(inner, further) };
}

/** What stands at a place of narrowed data; null where a null is on the way. */
export function valueAt(data: unknown, place: ErrorPath): unknown {
  let value = data;
  for (const step of place) {
    if (typeof value !== 'object' || value === null) return null;
    value = Array.isArray(value) ? value[0] : (value as Record<string, unknown>)[step];
  }
  return value ?? null;
}

/** The path of an error in narrowed data, in the whole of it. */
export function widened(path: ErrorPath, place: ErrorPath): ErrorPath {
  return path.map((step, index) => (index < place.length ? (place[index] ?? step) : step));
}

/** Whether an error tells of something in the data at a place: of a value there, or of a null on the way. */
export function standsIn(
  { path }: Pick<GraphQLError, 'path'>,
  data: unknown,
  place: ErrorPath = [],
): boolean {
  if (path === undefined) return false;
  if (place.some((step, index) => index < path.length && path[index] !== step)) return false;
  let value = data;
  for (const step of path.slice(place.length)) {
    if (typeof value !== 'object' || value === null) return true;
    if (!Object.hasOwn(value, step)) return false;
    value = (value as Record<string, unknown>)[step];
  }
  return true;
}
