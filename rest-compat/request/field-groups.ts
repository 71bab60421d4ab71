import { badInput } from '../../platform/errors.ts';
import type { BodySpec } from '../route/route.ts';
import type { ParameterReader } from './parameter-reader.ts';

/**
 * Keeps one field of each group of alternatives (a file or its link, a graph or its name): the first one that was sent. The
 * others are ignored with a note. Throws BAD_USER_INPUT when a group of which one is needed has none.
 */
export function applyFieldGroups(
  { oneOf = [], atMostOneOf = [] }: BodySpec,
  { sent, values, notes }: Pick<ParameterReader, 'sent' | 'values' | 'notes'>,
): void {
  for (const names of [...oneOf, ...atMostOneOf]) {
    const [used, ...others] = names.filter((name) => sent.has(name));
    for (const name of others) {
      values.set(name, undefined);
      notes.push(`${name} ignored, ${used} is used`);
    }
    const isNeeded = oneOf.includes(names);
    if (used === undefined && isNeeded) throw badInput(names[0] ?? '', `send one of ${names.join(', ')}`);
  }
}
