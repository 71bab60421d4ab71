import { mergeMember, type SharedValues } from './merge.ts';
import { isInherited } from './own-members.ts';
import type { Members } from './shape/merged.ts';

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
