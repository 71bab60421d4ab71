import { type ExecutionResult, GraphQLError } from 'graphql';

/** Answers of our own subgraphs that hold data alone: whoever passes one on needs only its bytes. */

const BYTES = Symbol('bytes');

/** How an answer begins that has data; errors come before that, so one that begins so has none. */
const DATA_ALONE = Buffer.from('{"data":{');

/** An answer that is read when somebody looks at its data; null where there is something else in it. */
export function unreadAnswer(bytes: Buffer): ExecutionResult | null {
  const { length } = DATA_ALONE;
  if (bytes.length <= length || bytes.compare(DATA_ALONE, 0, length, 0, length) !== 0) return null;
  let read: ExecutionResult | undefined;
  const answer = {
    get data() {
      read ??= JSON.parse(bytes.toString()) as ExecutionResult;
      return read.data ?? null;
    },
  };
  // Not enumerable: a copy has no bytes, and is the same to who compares them.
  return Object.defineProperty(answer, BYTES, { value: bytes });
}

/** The bytes of such an answer as they came; undefined of any other. Who changes its data passes on a copy, which has none. */
export function answerBytes(answer: ExecutionResult): Buffer | undefined {
  return (answer as { readonly [BYTES]?: Buffer })[BYTES];
}

/** The text of an answer, so that it begins with data only where there is nothing else. */
export function answerText(answer: ExecutionResult): string {
  const { data, errors, extensions } = answer;
  return JSON.stringify(
    errors === undefined && extensions === undefined ? { data } : { errors, extensions, data },
  );
}

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

/**
 * Data of which a part was answered, though it may hold nothing but nulls: what a subgraph said is null is an answer. Known
 * of the data itself, because the result around it is made anew on its way out.
 */
const answered = new WeakSet<object>();

/** Notes that a part of the data was answered. */
export function noteAnswered(data: object): void {
  answered.add(data);
}

/** Whether a part of the data is known to have been answered. */
export function isAnswered(data: unknown): boolean {
  return typeof data === 'object' && data !== null && answered.has(data);
}

/** The same data made anew: what is known of it holds on. */
export function remade<Data extends object>(data: object, made: Data): Data {
  if (answered.has(data)) answered.add(made);
  return made;
}

/** Errors of subgraphs that an operator lets callers see as they are, known also where they were made anew with another path. */
const whole = new WeakSet<Error>();

/** Lets callers see an error as it is. */
export function noteWhole(error: GraphQLError): GraphQLError {
  whole.add(error);
  return error;
}

/** Whether callers may see an error as it is. */
export function isWhole(error: GraphQLError): boolean {
  let current: Error | undefined = error;
  while (current instanceof GraphQLError) {
    if (whole.has(current)) return true;
    current = current.originalError;
  }
  return false;
}
