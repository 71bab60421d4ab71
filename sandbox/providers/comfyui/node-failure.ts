import { z } from 'zod';

/** The exception of a node, as the journal stores it in a job's `failure`. */
const failure = z.object({
  /** The node; null for whichever runs. */
  node: z.string().nullable(),
  /** Full name of the exception's class. */
  type: z.string(),
  message: z.string(),
});

type Failure = z.output<typeof failure>;

/** An exception of a node's own logic: the same graph would end with it again. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure';
  constructor(node: string, type: string, message: string) {
    super(failureText({ node, type, message: `${message}\n` }));
  }
}

/** Writes a failure down. */
export function failureText(value: Failure): string {
  return JSON.stringify(value);
}

/** Reads one; a text of another origin is an exception without a type of its own. */
export function readFailure(text: string): Failure {
  try {
    return failure.parse(JSON.parse(text));
  } catch {
    return { node: null, type: 'Exception', message: text }; // an error of the stand-in itself
  }
}
