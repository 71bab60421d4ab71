import { applyRewrites } from '@apollo/gateway/dist/dataRewrites.js';
import { type FieldNode, Kind, type SelectionNode, TypeNameMetaFieldDef } from 'graphql';

import { hasOwnNames, withRealNames } from '../operation/split-requirements.ts';
import {
  awaitBatches,
  requestEntities,
  type EntityFetch,
  type EntityRequests,
  type RequestingObject,
} from './entity-requests.ts';
import { compileSend, type FetchPlace, type FetchStep, toCallerError, findPaths } from './fetch.ts';
import {
  compileEntityLocator,
  type EntityBatch,
  type ReceivedEntity,
  type RequestedEntity,
} from './known-entities.ts';
import { createLeafMerging, merge, share } from './merge.ts';
import { compileRepresentation } from './representations.ts';
import type { Run } from './run.ts';
import type { Members } from './shape/shapes.ts';
import { wrongShape } from './shape/wrong-shapes.ts';

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

/** The entities that a fetch requested, and the batches with the responses. */
interface Received {
  readonly requests: EntityRequests;
  readonly batches: ReadonlySet<EntityBatch>;
}

/** Reports each error at every path of its entity; one that names no entity at the fetch's own path, as Apollo does. */
function reportErrors({ fetch, path }: EntityFetch, run: Run, { requests, batches }: Received): void {
  const { serviceName } = fetch;
  for (const batch of batches) {
    for (const error of batch.result?.errors ?? []) {
      const index = error.path?.[1];
      if (typeof index !== 'number') {
        const at = error.path === undefined ? undefined : [...path, ...error.path];
        run.errors.push(toCallerError(error, serviceName, at));
        continue;
      }
      const isMeant = ({ entity }: RequestingObject) => entity.batch === batch && entity.index === index;
      const objects = new Set(requests.objects.filter(isMeant).map(({ object }) => object));
      // The fetch that requested the entity reports it.
      if (objects.size === 0 && index < batch.representations.length) continue;
      const places = [...findPaths(objects, path, run).values()].flat();
      const below = error.path?.slice(2) ?? [];
      for (const place of places.length === 0 ? [[]] : places) {
        run.errors.push(toCallerError(error, serviceName, [...place, ...below]));
      }
    }
  }
}

/** Merges the entities into the objects that they were requested for. */
function mergeEntities(compiled: EntityFetch, run: Run, { requests, batches }: Received): void {
  for (const batch of batches) assertEntities(batch);
  const misshapen = new Set<unknown>();
  for (const { object, entity } of requests.objects) {
    const received = (entity.received ??= receive(compiled, entity, object));
    if (received === 'nothing') continue;
    if (received === 'no object') {
      misshapen.add(object);
      continue;
    }
    const { members, names, parts, mergeLeaves } = received;
    if (entity.isShared) share(parts, run.shared);
    if (mergeLeaves !== null) mergeLeaves(object, members, run.shared);
    else {
      run.places.clear();
      merge(object, members, names, run.shared);
    }
  }
  if (misshapen.size === 0) return;
  for (const place of [...findPaths(misshapen, compiled.path, run).values()].flat()) {
    run.errors.push(wrongShape('for an entity', place));
  }
}

/** What was answered for an entity, with the type of the object where it does not tell its own. */
function receive(
  { fetch, supergraphSchema, leafMerging }: EntityFetch,
  { batch, index, taken }: RequestedEntity,
  object: Members,
): ReceivedEntity {
  const entities = batch.result?.data?.['_entities'] as readonly (Members | null)[] | undefined;
  const all = entities?.[index];
  const members = taken === null || !isMembers(all) ? all : pick(all, taken);
  if (members === null || members === undefined) return 'nothing';
  if (!isMembers(members)) return 'no object';
  if (!members['__typename']) members['__typename'] = object['__typename'];
  const { outputRewrites } = fetch;
  if (outputRewrites !== undefined) applyRewrites(supergraphSchema, outputRewrites, members);
  const names = Object.keys(members);
  const parts = Object.values(members).filter((value) => typeof value === 'object' && value !== null);
  return { members, names, parts, mergeLeaves: leafMerging?.(names) ?? null };
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function pick(members: Members, names: ReadonlySet<string>): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => names.has(name)));
}

function assertEntities({ result, representations }: EntityBatch): void {
  if (result?.data === null || result?.data === undefined) return;
  const { _entities: entities } = result.data;
  if (!Array.isArray(entities)) throw new Error('Expected "data._entities" in response to be an array');
  if (entities.length !== representations.length) {
    throw new Error(`Expected "data._entities" to contain ${representations.length} elements`);
  }
}
