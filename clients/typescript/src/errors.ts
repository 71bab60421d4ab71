import type { FailureCode, RequestErrorCode, Task } from './graph.ts';

/**
 * Every code of an error: those of refused requests, those of tasks that ended without a result (`task` is then set), and
 * the client's own: no answer (UNREACHABLE), one that is not Kiln's (BAD_ANSWER), a webhook that is forged or old (BAD_SIGNATURE).
 */
export type KilnErrorCode =
  | RequestErrorCode
  | FailureCode
  | 'CANCELLED'
  | 'UNREACHABLE'
  | 'BAD_ANSWER'
  | 'BAD_SIGNATURE';

/** What an error says besides its message. */
export interface KilnErrorOptions {
  /** The wrong input. */
  readonly field?: string | undefined;
  /** Every wrong input, where there are several. */
  readonly problems?: readonly { readonly field: string; readonly message: string }[] | undefined;
  /** Seconds after which the same request may succeed. */
  readonly retryAfter?: number | undefined;
  /** What the operator finds the error by in the log. */
  readonly traceId?: string | undefined;
  /** The task that ended without a result. */
  readonly task?: Task | undefined;
  readonly cause?: unknown;
}

/** Whatever goes wrong with Kiln; `code` says what, and docs/errors.md what to do. */
export class KilnError extends Error {
  override readonly name = 'KilnError';
  readonly code: KilnErrorCode;
  readonly field: string | undefined;
  readonly problems: NonNullable<KilnErrorOptions['problems']>;
  readonly retryAfter: number | undefined;
  readonly traceId: string | undefined;
  readonly task: Task | undefined;

  constructor(code: KilnErrorCode, message: string, options: KilnErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.field = options.field;
    this.problems = options.problems ?? [];
    this.retryAfter = options.retryAfter;
    this.traceId = options.traceId;
    this.task = options.task;
  }
}

/** An answer of GraphQL. */
export interface Answer {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: KilnErrorOptions & { readonly code?: KilnErrorCode };
  }[];
}

/** The data of an answer. Throws its first error. */
export function readData({ data, errors: [first] = [] }: Answer): Readonly<Record<string, unknown>> {
  if (first !== undefined)
    throw new KilnError(first.extensions?.code ?? 'INTERNAL', first.message, first.extensions);
  if (!data) throw new KilnError('BAD_ANSWER', 'an answer without data');
  return data;
}

/** The error of a task that ended without a result. */
export function taskError(task: Task): KilnError {
  const { code = 'CANCELLED', message = 'the task was cancelled', field } = task.error ?? {};
  return new KilnError(code, message, { field: field ?? undefined, task });
}
