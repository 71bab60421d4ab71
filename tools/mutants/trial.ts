import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { TestRuns } from './ask-tests.ts';
import { changed, type Change } from './changes.ts';
import type { Types } from './types.ts';

/** What became of a change: refused by the types, seen by a test, by nobody, or its tests came to no end, here and now. */
export type Fate = 'does not compile' | 'killed' | 'survived' | 'without an end';

/** What became of a change, and the test that saw it, with its file (several when nobody knows which). */
export interface Outcome {
  readonly fate: Fate;
  readonly files?: readonly string[];
  readonly by?: string;
  /** The test ran into a time limit. */
  readonly isLate?: boolean;
}

/** Where a change is made, and who is asked about it. */
export interface Trial {
  readonly root: string;
  readonly types: Types;
  readonly runs: TestRuns;
  /** The files that import the changed one. */
  readonly users: Iterable<string>;
  /** Test files, in the order to ask them in. */
  readonly tests: readonly string[];
}

/**
 * Makes the change in a copy of the project, asks the types and then the tests until one sees it, and takes it back. What ran into a
 * time limit has to end without the change.
 */
export async function tryChange(change: Change, trial: Trial): Promise<Outcome> {
  const outcome = await withChange(change, trial);
  if (outcome.isLate !== true) return outcome;
  const again = await askTests(trial.runs, outcome.files ?? [], []);
  return again.fate === 'survived' ? outcome : { ...outcome, fate: 'without an end' };
}

async function withChange(change: Change, { root, types, runs, users, tests }: Trial): Promise<Outcome> {
  const file = path.join(root, change.file);
  const source = readFileSync(file, 'utf8');
  writeFileSync(file, changed(source, change));
  try {
    if (!(await types.hold(change.file, users))) return { fate: 'does not compile' };
    return await askTests(runs, tests, [change.file]);
  } finally {
    writeFileSync(file, source);
  }
}

/** Runs test files until one fails; `changedFiles` are not what they were in the run before. */
export async function askTests(
  runs: TestRuns,
  tests: readonly string[],
  changedFiles: readonly string[],
): Promise<Outcome> {
  const failed = await runs.ask({ tests, changed: changedFiles });
  if (failed === null) return { fate: 'survived' };
  return failed === 'without an end' ? { fate: failed } : { fate: 'killed', ...failed };
}
