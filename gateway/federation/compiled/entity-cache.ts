import type { ExecutionResult } from 'graphql';

import type { Members } from './shape/merged.ts';

/** The entities that one fetch requests, and the response. */
export interface EntityBatch {
  readonly representations: Members[];
  /** Resolves when `result` is there; never rejects. */
  answer: Promise<unknown>;
  result: ExecutionResult | null;
}

/** A requested entity: its index in a batch. */
export interface RequestedEntity {
  readonly batch: EntityBatch;
  readonly index: number;
}

/** The entities requested with one cache key, by their representation. */
export type KnownEntities = Map<string, RequestedEntity>;

/**
 * The entities requested in one run of a query, by cache key (subgraph, selection, variables): each is requested once, also
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
      const fresh: KnownEntities = new Map();
      byKey.set(cacheKey, fresh);
      return fresh;
    },
  };
}
