import { type FieldNode, type InlineFragmentNode, Kind, print } from 'graphql';

import { hasOwnNames } from '../operation/split-requirements.ts';
import type { EntityFetch } from './entity-requests.ts';

/**
 * Links the fetches of a plan of which one asks for all that another asks for: what the wider one has requested of an entity by the time
 * of the narrower one answers that too.
 */
export function linkNarrowerFetches(fetches: readonly EntityFetch[]): void {
  const ofOneType = fetches.flatMap((fetch) => (fetch.cacheKey === null ? [] : (describe(fetch) ?? [])));
  for (const wide of ofOneType) {
    for (const narrow of ofOneType) if (isNarrower(narrow, wide)) wide.fetch.narrower.push(narrow.fetch);
  }
}

/** A fetch of leaves of one type, without variables: what it requires, and what it selects. */
interface LeafFetch {
  readonly fetch: EntityFetch;
  readonly typeName: string;
  readonly required: ReadonlySet<string>;
  readonly selected: ReadonlySet<string>;
}

function describe(fetch: EntityFetch): LeafFetch | null {
  const { requires = [], variableUsages = [] } = fetch.fetch;
  const [requirement, ...otherTypes] = requires;
  const fragment = findOnlyFragment(fetch);
  if (variableUsages.length > 0 || otherTypes.length > 0 || hasOwnNames(requires)) return null;
  if (requirement?.kind !== 'InlineFragment' || fragment === null) return null;
  const typeName = fragment.typeCondition?.name.value;
  if (typeName === undefined || requirement.typeCondition !== typeName) return null;
  return {
    fetch,
    typeName,
    required: new Set(requirement.selections.map((selection) => JSON.stringify(selection))),
    selected: new Set(fragment.selectionSet.selections.map(print)),
  };
}

function isNarrower(narrow: LeafFetch, wide: LeafFetch): boolean {
  return (
    narrow.fetch.fetch.serviceName === wide.fetch.fetch.serviceName &&
    narrow.fetch.cacheKey !== wide.fetch.cacheKey &&
    narrow.typeName === wide.typeName &&
    narrow.required.isSubsetOf(wide.required) &&
    narrow.selected.isSubsetOf(wide.selected)
  );
}

/** The only thing that is selected of entities: what one type has. */
function findOnlyFragment({ fetch }: EntityFetch): InlineFragmentNode | null {
  const [definition] = fetch.operationDocumentNode?.definitions ?? [];
  if (definition?.kind !== Kind.OPERATION_DEFINITION) return null;
  const [entities] = definition.selectionSet.selections as readonly FieldNode[];
  const [only, ...more] = entities?.selectionSet?.selections ?? [];
  if (only?.kind !== Kind.INLINE_FRAGMENT || more.length > 0) return null;
  return (only.directives ?? []).length === 0 ? only : null;
}
