import type { ProblemType } from '../route/values.ts';

/** One problem of a 422 body: its location, a message and its kind. */
export interface Problem {
  /** `["query"|"path"|"body", name]`, `["body"]` for a missing body, `["body", offset]` for malformed JSON. */
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: ProblemType;
}

/** The documented HTTPValidationError body, with every problem of the request. */
export function validationError(problems: readonly Problem[]): { readonly detail: readonly Problem[] } {
  return { detail: problems };
}
