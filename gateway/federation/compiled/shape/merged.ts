import type { GraphQLError } from 'graphql';

/** Data of subgraphs: an object as it was received, or one into which several answers were merged. */
export type Members = Record<string, unknown>;

/** What the fetches of a plan have brought together. */
export interface Merged {
  readonly data: Members;
  readonly errors: readonly GraphQLError[];
  /** The variables as the caller gave them. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Whether one received object may stand at several places. */
  readonly isShared: boolean;
}
