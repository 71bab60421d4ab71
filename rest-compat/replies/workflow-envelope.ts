import type { Problem as InputProblem } from '../../platform/errors.ts';
import type { Problem } from './validation.ts';

/** The workflow service's envelope. */
export interface WorkflowEnvelope {
  /** Sign-in only: whether it worked. */
  readonly success?: boolean;
  /** The HTTP status. */
  readonly code: number;
  readonly message: string;
  /** Absent where an operation has no data. */
  readonly data?: unknown;
  /** ISO 8601. */
  readonly timestamp: string;
  /** The id of the request in the log. */
  readonly traceId: string;
}

/** The reply of a route of the workflow service, before its envelope. */
export interface Done {
  readonly message: string;
  readonly data?: unknown;
}

/** A success. Without `data` the response has no such key. */
export function done(message: string, data?: unknown): Done {
  return data === undefined ? { message } : { message, data };
}

/** One problem with a request: a member of `data.issues`. */
interface Issue {
  /** Where it was sent; absent when only the schema knows the field. */
  readonly in?: string;
  /** Its documented name; null for the body as a whole. */
  readonly field: string | null;
  readonly message: string;
}

/** Problems with declared inputs as issues. */
export function issuesOf(problems: readonly Problem[]): readonly Issue[] {
  return problems.map(({ loc: [place = 'body', name], msg }) =>
    typeof name === 'number'
      ? { in: String(place), field: null, message: `${msg} at character ${name}` }
      : { in: String(place), field: name ?? null, message: msg },
  );
}

/** One message about every issue. */
export function messageOf(issues: readonly Issue[]): string {
  return issues.map(({ field, message }) => (field === null ? message : `${field}: ${message}`)).join('; ');
}

/** `data` of a failure: the issues, when there are any. */
export function issueData(issues: readonly (Issue | InputProblem)[]): { readonly data?: object } {
  return issues.length === 0 ? {} : { data: { issues } };
}
