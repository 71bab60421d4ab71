import type { ExecutionResult, GraphQLError } from 'graphql';

/** One message of an answer that comes in parts, as Apollo's protocol of 2022-08-24 has it. */
export interface AnswerPart extends ExecutionResult {
  readonly incremental?: readonly IncrementalPart[];
  readonly hasNext: boolean;
}

/** All messages of one answer, each once. */
export type AnswerParts = AsyncGenerator<AnswerPart, void, undefined>;

/** A deferred fragment's data at one place. */
export interface IncrementalPart {
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly path: readonly (string | number)[];
  readonly label?: string;
  readonly errors?: readonly GraphQLError[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}
