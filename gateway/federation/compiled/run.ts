import type { FetchNode } from '@apollo/query-planner';
import type { ExecutionResult, GraphQLError } from 'graphql';

import type { RequestContext } from '../../../platform/graphql/operations/executor.ts';
import type { SubgraphLink } from '../../../platform/graphql/operations/subgraph.ts';
import type { EntityCache } from './known-entities.ts';
import type { SharedValues } from './merge.ts';
import type { Members, Merged } from './shape/shapes.ts';

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

/** What runs beside the first part of an answer: the steps of its parts, and the fetches that they wait for. */
export interface Deferral {
  /** Starts a part: when the fetches that it depends on are done, or all that its parent waits for. */
  begin(part: StartedPart): void;
  /** A fetch that others depend on is done. */
  done(fetchId: string): void;
}

interface StartedPart {
  readonly key: string;
  readonly depends: readonly string[];
  /** Ends when everything of the part that this one is inside of is fetched. */
  readonly primary: Promise<void>;
  readonly run: (run: Run) => Promise<void>;
}

/** A compiled node of a plan: works on the objects at its path; a promise only when it has to wait. */
export type Step = (run: Run, objects: readonly unknown[]) => Promise<void> | void;
