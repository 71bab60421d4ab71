/**
 * Thrown where a value is not as the schema promises. It says nothing and is caught at once: Apollo's shaping then finds
 * out what is to be said about it.
 */
export const DEVIATION = Symbol('deviation');

/** Gives up the fast way. */
export function deviate(): never {
  throw DEVIATION;
}
