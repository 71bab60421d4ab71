import type { FetchNode } from '@apollo/query-planner';
import type { ExecutionResult, GraphQLError } from 'graphql';

import type { RequestContext } from '../../../platform/graphql/operations/executor.ts';
import type { SubgraphLink } from '../../../platform/graphql/operations/subgraph.ts';
import type { Deferral } from '../deferred/deferral.ts';
import type { EntityCache } from './entity-cache.ts';
import type { SharedValues } from './merge.ts';
import type { Members, Merged } from './shape/merged.ts';

/** What a compiled plan is run for. */
export interface RunInput {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: RequestContext;
  readonly links: Readonly<Record<string, SubgraphLink>>;
  /** What callers see of an unexpected error, which is logged. */
  readonly failure: (thrown: unknown) => ExecutionResult;
  /** The fetch whose answer is there already: the event of a subscription. */
  readonly answered?: { readonly fetch: FetchNode; readonly result: ExecutionResult };
}

/** One run of a compiled plan. */
export interface Run extends RunInput, Merged {
  readonly data: Members;
  readonly errors: GraphQLError[];
  isShared: boolean;
  /** Whether a subgraph has answered a root field, if only by null. */
  isAnswered: boolean;
  /** Received values that stand at several places. */
  readonly shared: SharedValues;
  /** What the paths of the plan lead to, as long as nothing but leaves is merged. */
  readonly places: Map<string, readonly unknown[]>;
  /** What entities answered in this run; null where a later fetch may find another value (mutations). */
  readonly answers: EntityCache | null;
  /** Where parts of the answer begin that follow; absent where it is given at once. */
  readonly deferral?: Deferral;
}

/** A compiled node of a plan: works on the objects at its path; a promise only when it has to wait. */
export type Step = (run: Run, objects: readonly unknown[]) => Promise<void> | void;
