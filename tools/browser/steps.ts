import assert from 'node:assert/strict';

/** What a walk tells of: one line for each thing that was seen to hold. */
export interface Steps {
  /** Notes that something holds: that what was seen equals what was expected. */
  readonly holds: (what: string, actual: unknown, expected: unknown) => void;
  readonly count: number;
}

/** Notes them on the standard output. */
export function createSteps(): Steps {
  let count = 0;
  return {
    holds(what, actual, expected) {
      assert.deepEqual(actual, expected, what);
      count += 1;
      console.log(`ok ${String(count).padStart(2)}  ${what}`);
    },
    get count() {
      return count;
    },
  };
}
