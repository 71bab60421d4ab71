import { type KnownEntities, noEntities } from './known-entities.ts';

/**
 * The entities requested in one run of a query, by cache key (subgraph, selection): each is requested once, also
 * while the response is pending. Not in a mutation, where a later root field changes what an earlier one read.
 */
export interface EntityCache {
  of(cacheKey: string): KnownEntities;
}

/** Most entities of one key; beyond that they are requested anew. */
const MAX_ENTITIES = 50_000;

export function createEntityCache(): EntityCache {
  const byKey = new Map<string, KnownEntities>();
  return {
    of(cacheKey) {
      const known = byKey.get(cacheKey);
      if (known !== undefined && known.size < MAX_ENTITIES) return known;
      const fresh = noEntities();
      byKey.set(cacheKey, fresh);
      return fresh;
    },
  };
}
