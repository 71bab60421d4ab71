import { type FieldNode, Kind, type SelectionNode } from 'graphql';

import { mergeEntities, reportErrors } from './entity-merging.ts';
import { awaitBatches, requestEntities, type EntityFetch } from './entity-requests.ts';
import { compileSend, type FetchPlace, type FetchStep } from './fetch.ts';
import { compilePlaceOf } from './known-entities.ts';
import { compileRepresentation } from './representations.ts';

/**
 * A fetch of entities. The representations of the objects at its path are sent, equal ones once, and the results merged
 * into every such object. Objects that lack a required part are skipped.
 */
export function compileEntityFetch(place: FetchPlace): FetchStep {
  const { fetch, supergraphSchema } = place;
  const { requires = [], operation, serviceName, inputRewrites, outputRewrites } = fetch;
  const bringsLeavesOnly = hasLeavesOnly(place);
  const isPlain = bringsLeavesOnly && inputRewrites === undefined && outputRewrites === undefined;
  const compiled: EntityFetch = {
    ...place,
    send: compileSend(fetch),
    represent: compileRepresentation(requires, supergraphSchema),
    placeOf: compilePlaceOf(requires, supergraphSchema),
    bringsLeavesOnly,
    cacheKey: isPlain
      ? `${serviceName} ${operation.replace(/^query \w+/, 'query')} ${JSON.stringify(requires)}`
      : null,
  };
  return async (run, objects) => {
    const requests = requestEntities(compiled, run, objects);
    if (requests.objects.length === 0) return;
    const batches = await awaitBatches(compiled, run, requests);
    reportErrors(compiled, run, { requests, batches });
    mergeEntities(compiled, { requests, batches });
  };
}

/** Whether the results have no objects inside that other fetches could be merged into. */
function hasLeavesOnly({ fetch }: FetchPlace): boolean {
  const [definition, ...fragments] = fetch.operationDocumentNode?.definitions ?? [];
  if (definition?.kind !== Kind.OPERATION_DEFINITION || fragments.length > 0) return false;
  const [entities] = definition.selectionSet.selections;
  return (entities as FieldNode | undefined)?.selectionSet?.selections.every(isLeaf) ?? false;
}

function isLeaf(selection: SelectionNode): boolean {
  if (selection.kind === Kind.FIELD) return selection.selectionSet === undefined;
  return selection.kind === Kind.INLINE_FRAGMENT && selection.selectionSet.selections.every(isLeaf);
}
