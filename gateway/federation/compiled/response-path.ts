import type { Merged } from './shape/shapes.ts';

/** A path of a plan: names of members, and `@` for every element of a list. */
export type ResponsePath = readonly string[];

/**
 * What a path leads to from these objects: nothing of nulls, every element of lists, each once where one object may stand at
 * several places. A list in place of an object, or the other way round, leads nowhere: its field fails when the answer is shaped.
 */
export function valuesAt(
  objects: readonly unknown[],
  path: ResponsePath,
  run: Pick<Merged, 'isShared'>,
): readonly unknown[] {
  let found = objects;
  for (const step of path) {
    found = step === '@' ? flattenLists(found) : collectMembers(found, step);
    if (run.isShared && found.length > 1) found = [...new Set(found)];
  }
  return found.some(Array.isArray) ? found.flat().filter(isThere) : found;
}

function flattenLists(lists: readonly unknown[]): unknown[] {
  const elements: unknown[] = [];
  for (const list of lists) {
    if (!Array.isArray(list)) continue;
    for (const element of list) if (isThere(element)) elements.push(element);
  }
  return elements;
}

function collectMembers(objects: readonly unknown[], name: string): unknown[] {
  const members: unknown[] = [];
  const read = memberReader(name);
  for (const object of objects) {
    if (typeof object !== 'object' || object === null || Array.isArray(object)) continue;
    const member = read(object);
    if (isThere(member)) members.push(member);
  }
  return members;
}

function isThere(value: unknown): boolean {
  return value !== null && value !== undefined;
}

/** A member, not what every object inherits. */
function ownMember(object: object, name: string): unknown {
  return isInherited(name) && !Object.hasOwn(object, name)
    ? undefined
    : (object as Record<string, unknown>)[name];
}

/** Reads one member of any object, as `ownMember` does; what the name means is found out once. */
export function memberReader(name: string): (object: object) => unknown {
  if (isInherited(name)) return (object) => ownMember(object, name);
  return (object) => (object as Record<string, unknown>)[name];
}

/** What is read and written by generated code: names of members that mean the same for every value of JSON. */

/** Whether a value of JSON has something of this name that is no member of its own. */
export function isInherited(name: string): boolean {
  return PROTOTYPES.some((prototype) => name in prototype);
}

const PROTOTYPES: readonly object[] = [String, Number, Boolean, Array].map(({ prototype }) => prototype);
