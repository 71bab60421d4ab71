import type { ExecutionResult } from 'graphql';

import type { Members } from './shape/merged.ts';

/** The entities that one fetch asks for, and what it is answered. */
export interface EntityBatch {
  readonly representations: Members[];
  /** Resolves when `result` is there; never rejects. */
  answer: Promise<unknown>;
  result: ExecutionResult | null;
}

/** An entity that was asked for: its place in a batch. */
export interface AskedEntity {
  readonly batch: EntityBatch;
  readonly index: number;
}

/** The entities that were asked one question, by their representation. */
export type KnownEntities = Map<string, AskedEntity>;

/**
 * What was asked for in one run of a query, by the question (subgraph, selection, variables): the same is asked once, also
 * while it is still being answered. Not in a mutation, where a later root field changes what an earlier one read.
 */
export interface EntityAnswers {
  of(question: string): KnownEntities;
}

/** Beyond so many of one question, a run starts anew. */
const MAX_ENTITIES = 50_000;

export function createEntityAnswers(): EntityAnswers {
  const questions = new Map<string, KnownEntities>();
  return {
    of(question) {
      const known = questions.get(question);
      if (known !== undefined && known.size < MAX_ENTITIES) return known;
      const fresh: KnownEntities = new Map();
      questions.set(question, fresh);
      return fresh;
    },
  };
}
