import { applyRewrites } from '@apollo/gateway/dist/dataRewrites.js';

import type { AskedEntity, EntityBatch } from './entity-answers.ts';
import type { Asking, EntityFetch, Joined } from './entity-asking.ts';
import { toCallerError, placesOf } from './fetch-errors.ts';
import { merge } from './merge.ts';
import type { Run } from './run.ts';
import type { Members } from './shape/merged.ts';

/** What a fetch asked for, and the batches that have answered it. */
interface Received {
  readonly asking: Asking;
  readonly batches: ReadonlySet<EntityBatch>;
}

/** Tells each error at every place of its entity; one that names no entity at the fetch's own path, as Apollo does. */
export function tellErrors({ fetch, path }: EntityFetch, run: Run, { asking, batches }: Received): void {
  const { serviceName } = fetch;
  for (const batch of batches) {
    for (const error of batch.result?.errors ?? []) {
      const index = error.path?.[1];
      if (typeof index !== 'number') {
        const at = error.path === undefined ? undefined : [...path, ...error.path];
        run.errors.push(toCallerError(error, serviceName, at));
        continue;
      }
      const isMeant = ({ entity }: Joined) => entity.batch === batch && entity.index === index;
      const objects = new Set(asking.joined.filter(isMeant).map(({ object }) => object));
      // An entity that only another fetch asked for is that one's to tell.
      if (objects.size === 0 && index < batch.representations.length) continue;
      const places = [...placesOf(objects, path, run).values()].flat();
      const below = error.path?.slice(2) ?? [];
      for (const place of places.length === 0 ? [[]] : places) {
        run.errors.push(toCallerError(error, serviceName, [...place, ...below]));
      }
    }
  }
}

/** Merges what was answered into the objects that asked for it. */
export function receive({ fetch, supergraphSchema }: EntityFetch, { asking, batches }: Received): void {
  const { outputRewrites } = fetch;
  const rewritten = new Set<AskedEntity>();
  for (const batch of batches) assertEntities(batch);
  for (const { object, entity } of asking.joined) {
    const entities = entity.batch.result?.data?.['_entities'] as readonly Members[] | undefined;
    const received = entities?.[entity.index];
    if (!received) continue;
    if (!received['__typename']) received['__typename'] = object['__typename'];
    if (outputRewrites !== undefined && !rewritten.has(entity)) {
      applyRewrites(supergraphSchema, outputRewrites, received);
      rewritten.add(entity);
    }
    merge(object, received);
  }
}

function assertEntities({ result, representations }: EntityBatch): void {
  if (result?.data === null || result?.data === undefined) return;
  const { _entities: entities } = result.data;
  if (!Array.isArray(entities)) throw new Error('Expected "data._entities" in response to be an array');
  if (entities.length !== representations.length) {
    throw new Error(`Expected "data._entities" to contain ${representations.length} elements`);
  }
}
