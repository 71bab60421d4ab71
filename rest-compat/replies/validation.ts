import type { ProblemType } from '../route/values.ts';

/** One problem of a 422 body: its location, a message and its kind. */
export interface Problem {
  /** `["query"|"path"|"body", name]`, `["body"]` for a missing body, `["body", offset]` for malformed JSON. */
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: ProblemType;
}

/** The documented HTTPValidationError body, with every problem of the request; and what was not read of it, if anything. */
export function validationError(problems: readonly Problem[], ignored: readonly string[]): object {
  return { detail: problems, ...(ignored.length === 0 ? {} : { ignored }) };
}
