/** One edit of a file: a text that is there once, and what stands in its place. */
interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** One thing that the code does, taken away: the tool must find that something is wrong. */
export interface Break {
  /** What is wrong then, as a user would say it. */
  readonly name: string;
  /** Several where one guard stands behind another. */
  readonly edits: readonly Edit[];
  /** What the tool prints about it. */
  readonly finds: string;
  /** Most runs until the model finds it (default: 500); chaos makes short ones. */
  readonly within?: number;
}

/** The file with its edits made; throws where a text is not there once. */
export function edited(source: string, { file, from, to }: Edit): string {
  const [before, after, ...more] = source.split(from);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`${file} does not hold once: ${from}`);
  return before + to + after;
}
