import type { Problem as InputProblem } from '../../platform/errors.ts';
import type { ProblemType } from '../route/values.ts';

/** The media service's envelope. */
export interface Envelope {
  /** True: done or accepted. False: failed. A word: the state of a task that still runs. */
  readonly status: boolean | 'queued' | 'running';
  readonly data: unknown;
  readonly msg: string;
  /** What the provider or the store returned besides data, where an operation documents it. */
  readonly extra?: unknown;
}

/** A success; `data` is the result. */
export function success(data: unknown, msg = 'success'): Envelope {
  return { status: true, data, msg };
}

/** An application failure, which has HTTP status 200; msg says what is wrong and what to do. */
export function failure(msg: string): Envelope {
  return { status: false, data: null, msg };
}

/** Appends notes about ignored or clamped inputs to msg; bodies without msg stay as they are. */
export function withNotes(body: object, notes: readonly string[]): object {
  if (notes.length === 0 || !('msg' in body) || typeof body.msg !== 'string') return body;
  return { ...body, msg: `${body.msg} (${notes.join('; ')})` };
}

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
export function toIssues(problems: readonly Problem[]): readonly Issue[] {
  return problems.map(({ loc: [place = 'body', name], msg }) =>
    typeof name === 'number'
      ? { in: String(place), field: null, message: `${msg} at character ${name}` }
      : { in: String(place), field: name ?? null, message: msg },
  );
}

/** One message about every issue. */
export function joinIssues(issues: readonly Issue[]): string {
  return issues.map(({ field, message }) => (field === null ? message : `${field}: ${message}`)).join('; ');
}

/** `data` of a failure: the issues, when there are any. */
export function issueData(issues: readonly (Issue | InputProblem)[]): { readonly data?: object } {
  return issues.length === 0 ? {} : { data: { issues } };
}
