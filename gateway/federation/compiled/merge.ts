import type { Members } from './shape/merged.ts';

/**
 * Merges received data into what is there, as Apollo's gateway does: objects member by member, lists of one length
 * element by element; anything else takes the place of what was there. Received objects are taken over, not copied. `names` are
 * those of the source, where they are known.
 */
export function merge(
  target: Members,
  source: Members,
  names: readonly string[] = Object.keys(source),
): void {
  if (target === source) return;
  for (const name of names) {
    const value = source[name];
    if (value !== undefined) mergeMember(target, name, value);
  }
}

/** Merges one member. */
export function mergeMember(target: Members, name: string, value: unknown): void {
  const before = target[name];
  if (before === undefined) target[name] = value;
  else if (!Object.hasOwn(target, name)) defineMember(target, name, value);
  else if (!mergeInto(before, value)) target[name] = value;
}

/** Assigning would change what the object inherits (`__proto__`), not make a member. */
function defineMember(target: Members, name: string, value: unknown): void {
  Object.defineProperty(target, name, { configurable: true, enumerable: true, value, writable: true });
}

/** Whether a value could be merged into the one before it. */
function mergeInto(before: unknown, value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !before) return false;
  if (!Array.isArray(value)) {
    merge(before as Members, value as Members);
    return true;
  }
  if (!Array.isArray(before) || before.length !== value.length) return false;
  if (before === value) return true;
  for (const [at, element] of value.entries()) {
    const there: unknown = before[at];
    if (isObject(there) && isObject(element)) merge(there, element);
    else before[at] = element;
  }
  return true;
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
