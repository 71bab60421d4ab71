import { applyRewrites } from '@apollo/gateway/dist/dataRewrites.js';

import { AppError } from '../../../platform/errors.ts';
import { type FetchPlace, type Send, usedVariables } from './fetch.ts';
import {
  type EntityBatch,
  type EntityPlace,
  type KnownEntities,
  noEntities,
  type EntityLocator,
  type RequestedEntity,
} from './known-entities.ts';
import type { LeafMerging } from './merge.ts';
import type { Represent } from './representations.ts';
import type { Run } from './run.ts';
import type { Members } from './shape/shapes.ts';

/** The parts of a fetch of entities that never change. */
export interface EntityFetch extends FetchPlace {
  readonly send: Send;
  readonly represent: Represent;
  readonly locate: EntityLocator;
  /** The names of the results' members, where results can be shared by several objects without one writing into another's part; else null. */
  readonly leaves: ReadonlySet<string> | null;
  /** How results of leaves are merged; null where results have more. */
  readonly leafMerging: LeafMerging | null;
  /**
   * The query without the name that each fetch of a plan has, and what it requires: in one run variables of one name have one value.
   * Null when no other fetch can use the result.
   */
  readonly cacheKey: string | null;
  /** Fetches of the plan that ask for a part of what this one asks for. */
  readonly narrower: EntityFetch[];
}

/** The entities that a fetch requests in one run. */
export interface EntityRequests {
  /** The batch that this fetch sent itself. */
  readonly own: EntityBatch;
  readonly variables: Members;
  readonly objects: RequestingObject[];
}

/** An object of the data so far, and the entity that is requested for it. */
export interface RequestingObject {
  readonly object: Members;
  entity: RequestedEntity;
}

/** Collects the entities that the objects need, and requests those that are not in the cache. */
export function requestEntities(compiled: EntityFetch, run: Run, found: readonly unknown[]): EntityRequests {
  const { fetch, supergraphSchema, represent, locate } = compiled;
  const variables = usedVariables(fetch, run);
  if ('representations' in variables) {
    throw new AppError(
      'BAD_USER_INPUT',
      'call the variable $representations otherwise: subgraphs are asked for entities by it',
    );
  }
  const known = knownEntities(compiled, run);
  const own = emptyBatch();
  const fresh: EntityPlace[] = [];
  const objects: RequestingObject[] = [];
  for (const object of found as readonly Members[]) {
    // Before the rewrites, which may give objects of different types one name.
    const place = locate(object, known.start);
    if (place === null) continue;
    let { entity } = place;
    if (entity === null) {
      const representation = represent(object);
      if (representation === null || !representation['__typename']) continue;
      applyRewrites(supergraphSchema, fetch.inputRewrites, representation);
      entity = requestedEntity(own, representation, compiled.cacheKey !== null);
      place.entity = entity;
      known.size += 1;
      fresh.push(place, ...offerToNarrower(compiled, run, { object, entity }));
    } else {
      entity.isShared = true;
      if (compiled.leaves === null) run.isShared = true;
    }
    objects.push({ object, entity });
  }
  const requests = { own, variables, objects };
  sendBatch(compiled, run, { batch: own, variables }, () => {
    // Failures are not cached.
    if (own.result?.errors !== undefined) for (const place of fresh) place.entity = null;
  });
  return requests;
}

function knownEntities({ cacheKey }: EntityFetch, { answers }: Run): KnownEntities {
  return cacheKey === null || answers === null ? noEntities() : answers.of(cacheKey);
}

/** Makes an entity known to the fetches that ask for a part of it, so that they wait for this request and send none; answers the places. */
function offerToNarrower(
  { narrower }: EntityFetch,
  run: Run,
  { object, entity }: RequestingObject,
): readonly EntityPlace[] {
  return narrower.flatMap((fetch) => {
    const known = knownEntities(fetch, run);
    const place = fetch.locate(object, known.start);
    if (place === null || place.entity !== null) return [];
    place.entity = { ...entity, taken: fetch.leaves };
    known.size += 1;
    return place;
  });
}

/** What later fetches may find in the cache is shared from the beginning. */
function requestedEntity(batch: EntityBatch, representation: Members, isShared: boolean): RequestedEntity {
  const index = batch.representations.push(representation) - 1;
  return { batch, index, isShared, taken: null, received: undefined };
}

function emptyBatch(): EntityBatch {
  return { representations: [], answer: Promise.resolve(), result: null };
}

function sendBatch(
  { send }: EntityFetch,
  run: Run,
  { batch, variables }: { readonly batch: EntityBatch; readonly variables: Members },
  done?: () => void,
): void {
  const { representations } = batch;
  if (representations.length === 0) return;
  batch.answer = send(run, { ...variables, representations }).then((result) => {
    batch.result = result;
    done?.();
  });
}

/**
 * Waits for every batch with entities of this fetch. Entities of another fetch's failed batch are requested once more, so
 * that one failing entity does not fail other fetches.
 */
export async function awaitBatches(
  compiled: EntityFetch,
  run: Run,
  { own, variables, objects }: EntityRequests,
): Promise<ReadonlySet<EntityBatch>> {
  const batches = collectBatches(objects);
  for (const batch of batches) await batch.answer;
  const isLost = ({ batch: { result }, batch, taken }: RequestedEntity): boolean =>
    batch !== own && (!result?.data || (taken !== null && result.errors !== undefined));
  if (!objects.some(({ entity }) => isLost(entity))) return batches;
  const retry = emptyBatch();
  const retried = new Map<RequestedEntity, RequestedEntity>();
  for (const one of objects) {
    const { batch, index } = one.entity;
    if (!isLost(one.entity)) continue;
    const known = retried.get(one.entity);
    const representation = batch.representations[index] ?? {};
    const entity = known ?? requestedEntity(retry, representation, true);
    retried.set(one.entity, entity);
    batches.delete(batch);
    one.entity = entity;
  }
  sendBatch(compiled, run, { batch: retry, variables });
  await retry.answer;
  return batches.add(retry);
}

function collectBatches(objects: readonly RequestingObject[]): Set<EntityBatch> {
  const batches = new Set<EntityBatch>();
  for (const { entity } of objects) batches.add(entity.batch);
  return batches;
}
