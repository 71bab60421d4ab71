import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { changed, type Change } from './changes.ts';
import type { Types } from './types.ts';

/** What became of a change: refused by the types, seen by a test, by nobody, or its tests did not end. */
export type Fate = 'does not compile' | 'killed' | 'survived' | 'without an end';

/** What became of a change, and the test that saw it, with its file. */
export interface Outcome {
  readonly fate: Fate;
  readonly file?: string;
  readonly by?: string;
}

/** Where a change is made, and who is asked about it. */
export interface Trial {
  readonly root: string;
  readonly types: Types;
  /** The files that import the changed one. */
  readonly users: Iterable<string>;
  /** Test files, those of a group together, one group after the other. */
  readonly groups: readonly (readonly string[])[];
}

/** Longest run of the tests of one change, in milliseconds: stuck, not slow. */
const TIMEOUT_MS = 400_000;

/** Makes the change in a copy of the project, asks the types and then the tests until one sees it, and takes it back. */
export async function tryChange(change: Change, { root, types, users, groups }: Trial): Promise<Outcome> {
  const file = path.join(root, change.file);
  const source = readFileSync(file, 'utf8');
  writeFileSync(file, changed(source, change));
  try {
    if (!(await types.hold(change.file, users))) return { fate: 'does not compile' };
    for (const tests of groups) {
      const outcome = await askTests(root, tests);
      if (outcome.fate !== 'survived') return outcome;
    }
    return { fate: 'survived' };
  } finally {
    writeFileSync(file, source);
  }
}

const REPORT = '.mutants-report.json';

/** Runs test files until one fails. */
export async function askTests(root: string, tests: readonly string[]): Promise<Outcome> {
  const report = path.join(root, REPORT);
  rmSync(report, { force: true });
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
  const words = ['run', '--bail', '1', '--maxWorkers', '1', '--reporter', 'json', '--outputFile', REPORT];
  const child = spawn(process.execPath, [vitest, ...words, ...tests], {
    cwd: root,
    stdio: 'ignore',
    timeout: TIMEOUT_MS,
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code === 0) return { fate: 'survived' };
  return code === null ? { fate: 'without an end' } : { fate: 'killed', ...firstFailed(root, report) };
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

function firstFailed(root: string, report: string): Omit<Outcome, 'fate'> {
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const failed = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => ({ name, fullName })),
  );
  const [first] = failed;
  const file = first?.name ?? testResults.find(({ status }) => status === 'failed')?.name;
  if (file === undefined) throw new Error('the tests failed without a failed file');
  return { file: path.relative(root, file), by: first?.fullName ?? 'it could not be loaded' };
}
