import { type FieldNode, Kind, type SelectionNode, TypeNameMetaFieldDef } from 'graphql';

import { hasOwnNames, withRealNames } from '../operation/split-requirements.ts';
import { mergeEntities, reportErrors } from './entity-merging.ts';
import { awaitBatches, requestEntities, type EntityFetch } from './entity-requests.ts';
import { compileSend, type FetchPlace, type FetchStep } from './fetch.ts';
import { compileEntityLocator } from './known-entities.ts';
import { createLeafMerging } from './leaf-merging.ts';
import { compileRepresentation } from './representations.ts';
import type { Members } from './shape/merged.ts';

/**
 * A fetch of entities. The representations of the objects at its path are sent, equal ones once, and the results merged
 * into every such object. Objects that lack a required part are skipped. Joins the fetches that are `planned`.
 */
export function compileEntityFetch(place: FetchPlace, planned: EntityFetch[]): FetchStep {
  const { fetch, supergraphSchema } = place;
  const { requires = [], operation, serviceName, inputRewrites, outputRewrites } = fetch;
  const leaves = findLeaves(place);
  const isPlain = leaves !== null && inputRewrites === undefined && outputRewrites === undefined;
  const represent = compileRepresentation(requires, supergraphSchema);
  const compiled: EntityFetch = {
    ...place,
    send: compileSend(fetch),
    represent: hasOwnNames(requires)
      ? (entity) => withRealNames(represent(entity)) as Members | null
      : represent,
    locate: compileEntityLocator(requires, supergraphSchema),
    leaves,
    leafMerging: leaves === null ? null : createLeafMerging(leaves),
    cacheKey: isPlain
      ? `${serviceName} ${operation.replace(/^query \w+/, 'query')} ${JSON.stringify(requires)}`
      : null,
    narrower: [],
  };
  planned.push(compiled);
  return async (run, objects) => {
    const requests = requestEntities(compiled, run, objects);
    if (requests.objects.length === 0) return;
    const batches = await awaitBatches(compiled, run, requests);
    reportErrors(compiled, run, { requests, batches });
    mergeEntities(compiled, run, { requests, batches });
  };
}

/** The names of the results' members; null where there are objects inside that other fetches could be merged into. */
function findLeaves({ fetch }: FetchPlace): ReadonlySet<string> | null {
  const [definition, ...fragments] = fetch.operationDocumentNode?.definitions ?? [];
  if (definition?.kind !== Kind.OPERATION_DEFINITION || fragments.length > 0) return null;
  const [entities] = definition.selectionSet.selections;
  const selections = (entities as FieldNode | undefined)?.selectionSet?.selections;
  // The type is added to what does not tell it.
  const names = new Set([TypeNameMetaFieldDef.name]);
  return selections?.every((selection) => addLeaves(selection, names)) === true ? names : null;
}

/** Adds the names of a selection; false when it has more than leaves. */
function addLeaves(selection: SelectionNode, names: Set<string>): boolean {
  if (selection.kind === Kind.FIELD) {
    names.add((selection.alias ?? selection.name).value);
    return selection.selectionSet === undefined;
  }
  if (selection.kind !== Kind.INLINE_FRAGMENT) return false;
  return selection.selectionSet.selections.every((inner) => addLeaves(inner, names));
}
