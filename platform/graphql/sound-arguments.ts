import { badInput } from '../errors.ts';

/**
 * Refuses arguments with a NUL character in any text: PostgreSQL's text holds none, so such a value could neither be
 * stored nor looked for. The error names the field as services do: without the argument `input` around it.
 */
export function refuseUnsoundTexts(values: object): void {
  const field = findNul(values, '')?.replace(/^input\./, '');
  if (field !== undefined) throw badInput(field, `${field} may not contain NUL characters`);
}

/** The path of the first text with a NUL character. Arguments are bounded in depth by their types and the JSON scalar. */
function findNul(value: unknown, path: string): string | null {
  if (typeof value === 'string') return value.includes('\0') ? path : null;
  if (!isPlain(value)) return null;
  for (const [name, inner] of Object.entries(value)) {
    const isEntry = Array.isArray(value);
    const found = findNul(inner, isEntry ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`);
    if (found !== null) return found;
  }
  return null;
}

/** Not uploads and dates, which are values by themselves. Arguments come from graphql-js without a prototype. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Array.isArray(value);
}
