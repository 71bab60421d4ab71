import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import * as fc from 'fast-check';

import { changesOf, lineOf, type Change } from './changes.ts';
import { importedBy, nearestTests, slowFiles } from './nearest-tests.ts';
import { succeeds, tryChange, type Fate } from './trial.ts';

/**
 * Changes the code at random and says which changes no test sees: `npm run mutants -- --area gateway --count 20 --seed 7`.
 * Each is made alone, in a copy; what does not compile counts for nothing. A survivor is either as good as equivalent, or
 * its behaviour gets a test, or the code goes.
 */
const { values } = parseArgs({
  options: {
    /** A folder: gateway, subgraphs/media/tasks. */
    area: { type: 'string', default: '.' },
    count: { type: 'string', default: '20' },
    seed: { type: 'string' },
    /** Most test files asked about one change. */
    tests: { type: 'string', default: '5' },
  },
});
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const project = path.resolve(import.meta.dirname, '../..');
const root = mkdtempSync(path.join(tmpdir(), 'kiln-mutants-'));
process.once('exit', () => rmSync(root, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const tracked = execFileSync('git', ['ls-files'], { cwd: project, encoding: 'utf8' }).trim().split('\n');
for (const file of tracked) cpSync(path.join(project, file), path.join(root, file));
symlinkSync(path.join(project, 'node_modules'), path.join(root, 'node_modules'));

const sources = tracked.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'));
const importers = importedBy(root, sources);
const slow = slowFiles(importers);
const isProduct = (file: string): boolean =>
  !/\.(test|fixture|contract)\.ts$|(^|\/)(fixtures|testing|migrations)\/|^(test|schema)\//.test(file);
const area = sources.filter((file) => isProduct(file) && !path.relative(values.area, file).startsWith('..'));
const sourceOf = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const candidates = area.flatMap((file) => changesOf(file, sourceOf(file)));
const order = fc.sample(fc.shuffledSubarray(candidates, { minLength: candidates.length }), {
  seed,
  numRuns: 1,
});

console.info(`seed ${seed}: ${candidates.length} changes of ${area.length} files in ${values.area}`);
await succeeds(root, 'tsc', ['--incremental', '--tsBuildInfoFile', '.mutants.tsbuildinfo']);
const fates: Record<Fate, number> = { 'does not compile': 0, killed: 0, survived: 0 };
for (const change of order[0] ?? []) {
  if (fates.killed + fates.survived >= Number(values.count)) break;
  const fate = await tryChange(root, change, testsOf(change.file));
  fates[fate] += 1;
  if (fate !== 'does not compile') describe(change, fate);
}
console.info(
  `${fates.killed} killed, ${fates.survived} survived, ${fates['does not compile']} did not compile`,
);
process.exit(0);

/** Quick test files all at once, then each that starts servers by itself. */
function testsOf(file: string): readonly (readonly string[])[] {
  const tests = nearestTests(importers, file, Number(values.tests));
  const quick = tests.filter((test) => !slow.has(test));
  const rest = tests.filter((test) => slow.has(test)).map((test) => [test]);
  return quick.length > 0 ? [quick, ...rest] : rest;
}

function describe(change: Change, fate: Fate): void {
  const source = sourceOf(change.file);
  const line = source.split('\n')[lineOf(source, change) - 1]?.trim();
  console.info(`${fate}: ${change.file}:${lineOf(source, change)} ${change.operator}\n  ${line}`);
}
