import { badInput } from '../../errors.ts';

/**
 * Refuses arguments with a NUL character or half of a surrogate pair in any text or name: PostgreSQL can't store them.
 * The error names the field without the argument `input` around it, as services do.
 */
export function refuseUnstorableText(values: object): void {
  const found = findUnstorable(values, '');
  if (found === null) return;
  const field = found.path.replace(/^input\./, '');
  throw badInput(field, `${field} ${found.mistake}`);
}

interface UnstorableText {
  readonly path: string;
  readonly mistake: string;
}

/** The first text that can't be stored. Arguments are bounded in depth by their types and the JSON scalar. */
function findUnstorable(value: unknown, path: string): UnstorableText | null {
  if (typeof value === 'string') return unstorableText(value, path);
  if (!isPlain(value)) return null;
  for (const [name, inner] of Object.entries(value)) {
    const found = unstorableText(name, path) ?? findUnstorable(inner, joinPath(value, name, path));
    if (found !== null) return found;
  }
  return null;
}

function unstorableText(text: string, path: string): UnstorableText | null {
  if (text.includes('\0')) return { path, mistake: 'may not contain NUL characters' };
  return text.isWellFormed()
    ? null
    : { path, mistake: 'must be valid Unicode, without halves of characters' };
}

function joinPath(parent: object, name: string, path: string): string {
  if (Array.isArray(parent)) return `${path}[${name}]`;
  return path === '' ? name : `${path}.${name}`;
}

/** Not uploads and dates. Arguments come from graphql-js without a prototype. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Array.isArray(value);
}
