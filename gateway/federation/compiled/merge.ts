import type { Members } from './shape/merged.ts';

/** Received values that stand at several places: whoever writes into one copies it first, for the place that is written. */
export type SharedValues = WeakSet<object>;

/** Nothing is shared: for objects that were made here. */
const NOTHING: SharedValues = new WeakSet();

/**
 * Merges received data into what is there, as Apollo's gateway does: objects member by member, lists of one length
 * element by element; anything else takes the place of what was there. Received objects are taken over, not copied. `names` are
 * those of the source, where they are known.
 */
export function merge(
  target: Members,
  source: Members,
  names: readonly string[] = Object.keys(source),
  shared: SharedValues = NOTHING,
): void {
  if (target === source) return;
  for (const name of names) {
    const value = source[name];
    if (value !== undefined) mergeMember(target, name, value, shared);
  }
}

/** Merges one member. */
export function mergeMember(target: Members, name: string, value: unknown, shared: SharedValues): void {
  const before = target[name];
  if (before === undefined) target[name] = value;
  else if (!Object.hasOwn(target, name)) defineMember(target, name, value);
  else {
    const merged = mergedValue(before, value, shared);
    if (merged !== before) target[name] = merged;
  }
}

/** Notes that the values of an answer stand at several places. */
export function share(values: readonly unknown[], shared: SharedValues): void {
  for (const value of values) if (typeof value === 'object' && value !== null) shared.add(value);
}

/** Assigning would change what the object inherits (`__proto__`), not make a member. */
function defineMember(target: Members, name: string, value: unknown): void {
  Object.defineProperty(target, name, { configurable: true, enumerable: true, value, writable: true });
}

/** What stands where a value was merged into the one before it. */
function mergedValue(before: unknown, value: unknown, shared: SharedValues): unknown {
  if (before === value || typeof value !== 'object' || value === null || !before) return value;
  if (!Array.isArray(value)) {
    // A subgraph broke the schema: the field fails when the answer is shaped.
    if (!isObject(before)) return before;
    shareWithin(value as Members, shared);
    const own = ownCopy(before, shared);
    merge(own, value as Members, undefined, shared);
    return own;
  }
  if (!Array.isArray(before) || before.length !== value.length) return value;
  shareWithin(value, shared);
  const own = ownCopy(before, shared);
  for (const [at, element] of value.entries()) {
    const there: unknown = own[at];
    own[at] = isObject(there) && isObject(element) ? mergedValue(there, element, shared) : element;
  }
  return own;
}

/** What a shared value holds is taken over one by one, and stands at several places from then on. */
function shareWithin(value: Members | unknown[], shared: SharedValues): void {
  if (shared.has(value)) share(Object.values(value), shared);
}

/** The value itself, or a copy of one that stands elsewhere too; what the copy holds is then at several places. */
function ownCopy<Value extends Members | unknown[]>(value: Value, shared: SharedValues): Value {
  if (!shared.has(value)) return value;
  shareWithin(value, shared);
  return (Array.isArray(value) ? [...value] : Object.assign({}, value)) as Value;
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
