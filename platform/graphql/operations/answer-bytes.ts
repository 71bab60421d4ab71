import type { ExecutionResult } from 'graphql';

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
