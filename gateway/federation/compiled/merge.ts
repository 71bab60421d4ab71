import { isInherited } from './response-path.ts';
import type { Members } from './shape/shapes.ts';

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

function mergeMember(target: Members, name: string, value: unknown, shared: SharedValues): void {
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
  Object.defineProperty(target, name, { enumerable: true, value, writable: true });
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

/** Merges the members of a received object that has exactly these names, in this order, into another object. */
export type MergeMembers = (target: Members, source: Members, shared: SharedValues) => void;

/**
 * Finds the function that merges objects of leaves with these names; null when there is none. It is generated, so that
 * each place in it reads and writes one name of objects of one hidden class: some five times as fast as member by member.
 */
export type LeafMerging = (names: readonly string[]) => MergeMembers | null;

/** A fetch brings the same names for each type of entity; more kinds are those of a subgraph that leaves some out. */
const MAX_KINDS = 8;

/** Makes the search for a fetch that selects these leaves. */
export function createLeafMerging(selected: ReadonlySet<string>): LeafMerging {
  const kinds: { readonly names: readonly string[]; readonly merge: MergeMembers }[] = [];
  return (names) => {
    for (const kind of kinds) if (areEqual(kind.names, names)) return kind.merge;
    if (kinds.length >= MAX_KINDS || !names.every((name) => selected.has(name) && !isInherited(name)))
      return null;
    const merge = generate(names);
    kinds.push({ names, merge });
    return merge;
  };
}

function areEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, at) => name === other[at]);
}

/** Names are those of a parsed document, and nothing inherits them: assigning makes a member, as `merge` does. */
function generate(names: readonly string[]): MergeMembers {
  const lines = names.map((name, at) => {
    const literal = JSON.stringify(name);
    return `const v${at} = source[${literal}];
      if (typeof v${at} !== 'object') { if (v${at} !== undefined) target[${literal}] = v${at}; }
      else mergeMember(target, ${literal}, v${at}, shared);`;
  });
  const source = `return (target, source, shared) => { ${lines.join('\n')} };`;
  // oxlint-disable-next-line typescript/no-implied-eval -- see above
  const make = new Function('mergeMember', source) as (member: typeof mergeMember) => MergeMembers;
  return make(mergeMember);
}
