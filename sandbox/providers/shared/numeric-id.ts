import { randomInt } from 'node:crypto';

/** A new id of that many digits, beginning with `prefix`. */
export function newNumericId(prefix: string, digits: number): string {
  let id = prefix;
  while (id.length < digits) id += String(randomInt(10));
  return id;
}
