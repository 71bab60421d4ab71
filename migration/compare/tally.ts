/** Counts what was compared, by operation. */
export interface Tally {
  compared(operation: string, differences: readonly string[]): void;
  skipped(operation: string, reason: string): void;
  /** A service did not answer: nothing is known of this request, so that not all is equal. */
  unanswered(operation: string, service: 'old' | 'new'): void;
  undocumented(request: string): void;
  /** A field that clients send and Kiln does not read. */
  unread(operation: string, field: string): void;
  result(): Comparison;
}

/** The outcome of a comparison, as it is written for machines. */
interface Comparison {
  readonly operations: readonly OperationResult[];
  readonly notCompared: readonly {
    readonly operation: string;
    readonly requests: number;
    readonly reason: string;
  }[];
  readonly undocumented: readonly { readonly request: string; readonly requests: number }[];
  readonly unreadFields: readonly {
    readonly operation: string;
    readonly field: string;
    readonly requests: number;
  }[];
  /** Nothing differs, every field is read, and every request was answered. */
  readonly isEqual: boolean;
}

interface OperationResult {
  readonly operation: string;
  readonly requests: number;
  readonly equal: number;
  readonly differing: number;
  /** Each difference, and how many requests had it. */
  readonly differences: Readonly<Record<string, number>>;
}

/** Most undocumented paths that are listed. */
const MAX_UNDOCUMENTED = 100;

/** An empty tally. */
export function createTally(): Tally {
  const operations = new Map<
    string,
    { equal: number; differing: number; differences: Map<string, number> }
  >();
  const notCompared = new Map<string, number>();
  let hasUnanswered = false;
  const undocumented = new Map<string, number>();
  const unreadFields = new Map<string, number>();
  const count = (map: Map<string, number>, ...key: readonly string[]) => {
    const text = JSON.stringify(key);
    map.set(text, (map.get(text) ?? 0) + 1);
  };
  return {
    compared(operation, differences) {
      const entry = operations.get(operation) ?? { equal: 0, differing: 0, differences: new Map() };
      operations.set(operation, entry);
      if (differences.length === 0) entry.equal += 1;
      else entry.differing += 1;
      for (const text of differences) entry.differences.set(text, (entry.differences.get(text) ?? 0) + 1);
    },
    skipped: (operation, reason) => count(notCompared, operation, reason),
    unanswered(operation, service) {
      hasUnanswered = true;
      count(notCompared, operation, `the ${service} service did not answer`);
    },
    undocumented: (request) => void (undocumented.size < MAX_UNDOCUMENTED && count(undocumented, request)),
    unread: (operation, field) => count(unreadFields, operation, field),
    result: () => ({
      operations: [...operations].map(([operation, { equal, differing, differences }]) => ({
        operation,
        requests: equal + differing,
        equal,
        differing,
        differences: Object.fromEntries(differences),
      })),
      notCompared: pairs(notCompared).map(([[operation, reason], requests]) => ({
        operation,
        requests,
        reason,
      })),
      undocumented: pairs(undocumented).map(([[request], requests]) => ({ request, requests })),
      unreadFields: pairs(unreadFields).map(([[operation, field], requests]) => ({
        operation,
        field,
        requests,
      })),
      isEqual:
        [...operations.values()].every(({ differing }) => differing === 0) &&
        unreadFields.size === 0 &&
        !hasUnanswered,
    }),
  };
}

function pairs(map: ReadonlyMap<string, number>): [[string, string], number][] {
  return [...map].map(([key, requests]) => [JSON.parse(key), requests]);
}

/** A comparison for people. Pure. */
export function formatTable({ operations, notCompared, undocumented, unreadFields }: Comparison): string {
  const rows = operations.map(({ operation, requests, equal, differing, differences }) => [
    operation,
    String(requests),
    String(equal),
    String(differing),
    Object.keys(differences)[0] ?? '',
  ]);
  return [
    ...columns([['operation', 'requests', 'equal', 'differing', 'first difference'], ...rows]),
    ...section(
      'Fields that clients send and Kiln does not read (the move breaks what they ask for):',
      unreadFields.map(({ operation, field, requests }) => `${operation}: ${field} (${requests} requests)`),
    ),
    ...section(
      'Not compared:',
      notCompared.map(({ operation, requests, reason }) => `${operation} (${requests} requests): ${reason}`),
    ),
    ...section(
      'Not documented, so not compared:',
      undocumented.map(({ request, requests }) => `${request} (${requests} requests)`),
    ),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

/** Columns as wide as their widest cell; the last one is not padded. */
function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
