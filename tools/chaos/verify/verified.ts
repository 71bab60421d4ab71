/** What a run has done: what is looked at at the end. */
export interface Verified {
  /** Asks the database. */
  readonly rows: <Row extends object>(query: string) => Promise<readonly Row[]>;
  /** Where the sandbox counts what was asked of it. */
  readonly sandboxUrl: string;
  /** The gateway that files are fetched from. */
  readonly gatewayUrl: string;
}

/** One line of the table: what was looked at, how much of it there is, and what is wrong. */
export interface Finding {
  readonly what: string;
  readonly count: number;
  readonly wrong: readonly string[];
}

/** The column `text` of an answer. */
export async function texts({ rows }: Verified, query: string): Promise<readonly string[]> {
  return (await rows<{ text: string }>(query)).map(({ text }) => text);
}

/** As the elements of an array in SQL. */
export function quoteList(values: Iterable<string>): string {
  return [...values].map((value) => `'${value.replaceAll("'", "''")}'`).join(',');
}
