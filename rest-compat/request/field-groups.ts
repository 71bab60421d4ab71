import { badInput } from '../../platform/errors.ts';
import type { BodySpec } from '../route/route.ts';

/** Fields that stand for each other: a file or its link, a graph or its name. */

/** Values of a request while rules about several of them at once are applied. */
export interface ReadValues {
  /** Names that the caller gave a value. */
  readonly sent: ReadonlySet<string>;
  /** Values by name; the ones that are left aside become undefined. */
  readonly values: Map<string, unknown>;
  /** What was ignored, in words for msg. */
  readonly notes: string[];
}

/**
 * Of each group the first field that was given stays, the others are ignored with a note. Throws BAD_USER_INPUT when a
 * group of which one is needed has none.
 */
export function applyFieldGroups({ oneOf = [], atMostOneOf = [] }: BodySpec, read: ReadValues): void {
  for (const names of [...oneOf, ...atMostOneOf]) {
    const [used, ...others] = names.filter((name) => read.sent.has(name));
    for (const name of others) {
      read.values.set(name, undefined);
      read.notes.push(`${name} ignored, ${used} is used`);
    }
    const isNeeded = oneOf.includes(names);
    if (used === undefined && isNeeded) throw badInput(names[0] ?? '', `send one of ${names.join(', ')}`);
  }
}
