import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { changed, type Change } from './changes.ts';

/** What became of a change: refused by the types, seen by a test, or by nobody. */
export type Fate = 'does not compile' | 'killed' | 'survived';

/** Longest run of the tests of one change, in milliseconds; a change that makes them hang is killed. */
const TIMEOUT_MS = 300_000;

/**
 * Makes the change in a copy of the project, asks the types and then the tests, one group after the other until one sees
 * it, and takes it back.
 */
export async function tryChange(
  root: string,
  change: Change,
  groups: readonly (readonly string[])[],
): Promise<Fate> {
  const file = path.join(root, change.file);
  const source = readFileSync(file, 'utf8');
  writeFileSync(file, changed(source, change));
  try {
    if (!(await succeeds(root, 'tsc', ['--incremental', '--tsBuildInfoFile', '.mutants.tsbuildinfo']))) {
      return 'does not compile';
    }
    for (const tests of groups) {
      if (!(await succeeds(root, 'vitest', ['run', '--bail', '1', '--maxWorkers', '1', ...tests])))
        return 'killed';
    }
    return 'survived';
  } finally {
    writeFileSync(file, source);
  }
}

/** Runs a program of node_modules/.bin; false when it fails, or does not end in time. */
export async function succeeds(root: string, name: string, words: readonly string[]): Promise<boolean> {
  const program = path.join(root, 'node_modules/.bin', name);
  const child = spawn(program, words, { cwd: root, stdio: 'ignore', timeout: TIMEOUT_MS });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}
