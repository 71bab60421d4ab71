import { type FieldNode, Kind, type SelectionNode } from 'graphql';

import { answered, collect, type EntityFetch } from './entity-asking.ts';
import { receive, tellErrors } from './entity-receiving.ts';
import { compileSend, type FetchPlace, type FetchStep } from './fetch.ts';
import { compileRepresentation } from './representations.ts';

/**
 * A fetch of entities. What each object at its path requires is sent, equal ones once; what is answered is merged into
 * every object that asked for it. Objects that lack a required part are passed over.
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
    bringsLeavesOnly,
    question: isPlain ? `${serviceName} ${operation.replace(/^query \w+/, 'query')}` : null,
  };
  return async (run, objects) => {
    const asking = collect(compiled, run, objects);
    if (asking.joined.length === 0) return;
    const batches = await answered(compiled, run, asking);
    tellErrors(compiled, run, { asking, batches });
    receive(compiled, { asking, batches });
  };
}

/** Whether what is answered has no objects inside that other fetches could be merged into. */
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
