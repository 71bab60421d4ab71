/** Counts what was compared, by operation. */
export interface Tally {
  compared(operation: string, differences: readonly string[]): void;
  skipped(operation: string, reason: string): void;
  undocumented(request: string): void;
  /** A field that clients send and Kiln does not read. */
  unread(operation: string, field: string): void;
  result(): Comparison;
}

/** The outcome of a comparison, as it is written for machines. */
export interface Comparison {
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
  /** Nothing differs, and every field is read. */
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
      isEqual: [...operations.values()].every(({ differing }) => differing === 0) && unreadFields.size === 0,
    }),
  };
}

function pairs(map: ReadonlyMap<string, number>): [[string, string], number][] {
  return [...map].map(([key, requests]) => [JSON.parse(key), requests]);
}
