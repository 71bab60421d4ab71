import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import * as fc from 'fast-check';

import { AREAS, selectFiles } from './areas.ts';
import { openTestRuns } from './ask-tests.ts';
import { findChanges, countLines, type Change } from './changes.ts';
import { copyOfProject } from './copy-of-project.ts';
import { importedBy, nearestTests, slowFiles } from './nearest-tests.ts';
import { askTests, tryChange, type Fate, type Outcome } from './trial.ts';
import { openTypes } from './types.ts';

/**
 * Changes the code at random and says which changes no test sees: `npm run mutants -- --area payments --count 20 --seed 7`.
 * Each is made alone, in a copy; what does not compile counts for nothing. A survivor is either as good as equivalent, or
 * its behaviour gets a test, or the code goes.
 */
const { values } = parseArgs({
  options: {
    /** Of areas.ts, or a folder; again for more of them (default: every area). */
    area: { type: 'string', multiple: true, default: Object.keys(AREAS) },
    /** Changes of each area. */
    count: { type: 'string', default: '12' },
    /** The first of the drawn order that is tried: goes on with an area that was cut short. */
    from: { type: 'string', default: '0' },
    /** Drawn anew when it is not given. */
    seed: { type: 'string' },
    /** Most of the nearest test files asked about one change (default: what the area says, else 5). */
    tests: { type: 'string' },
  },
});
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const { root, files: tracked } = copyOfProject('kiln-mutants-');
const sources = tracked.filter((file) => /\.tsx?$/.test(file));
const importers = importedBy(root, sources);
const slow = slowFiles(importers);
const types = await openTypes(root);
const runs = openTestRuns(root);
const readSource = (file: string): string => readFileSync(path.join(root, file), 'utf8');
for (const area of values.area) await tryArea(area);
process.exit(0);

async function tryArea(name: string): Promise<void> {
  const files = selectFiles(name, sources);
  const candidates = files.flatMap((file) => findChanges(file, readSource(file)));
  const all = fc.shuffledSubarray(candidates, { minLength: candidates.length });
  const [order = []] = fc.sample(all, { seed, numRuns: 1 });
  console.info(`${name}, seed ${seed}: ${candidates.length} changes of ${files.length} files`);
  const fates: Record<Fate, number> = { 'does not compile': 0, killed: 0, survived: 0, 'without an end': 0 };
  const seeing = new Set<string>();
  let next = Number(values.from);
  for (const change of order.slice(next)) {
    if (fates.killed + fates.survived >= Number(values.count)) break;
    next += 1;
    const users = importers.get(change.file) ?? [];
    const outcome = await tryChange(change, {
      root,
      types,
      runs,
      users,
      tests: orderTests(change.file, name),
    });
    fates[outcome.fate] += 1;
    for (const file of outcome.files ?? []) seeing.add(file);
    if (outcome.fate !== 'does not compile') describe(change, outcome, next);
  }
  console.info(
    `${name}: ${Object.entries(fates)
      .map(([fate, count]) => `${count} ${fate}`)
      .join(', ')}; the next is --from ${next}`,
  );
  await checkWithoutChange(seeing);
}

/** The tests that saw a change are green without one, or what they saw is not the change. */
async function checkWithoutChange(files: ReadonlySet<string>): Promise<void> {
  const { fate, files: failed, by } = await askTests(runs, [...files], []);
  if (fate === 'survived') console.info(`  ${files.size} test files saw them, all green without a change`);
  else console.info(`  NOT COUNTED: without a change ${failed?.join(', ')}: ${by} is ${fate} too`);
}

/** The quick test files, the nearest first, then those that start servers. */
function orderTests(file: string, name: string): readonly string[] {
  const { nearest = 5, tests: farther = [] } = AREAS[name] ?? { folders: [] };
  const near = nearestTests(importers, file, Number(values.tests ?? nearest));
  const tests = [...new Set([...near, ...farther])];
  return [...tests.filter((test) => !slow.has(test)), ...tests.filter((test) => slow.has(test))];
}

function describe(change: Change, { fate, files, by }: Outcome, number: number): void {
  const source = readSource(change.file);
  const line = source.split('\n')[countLines(source, change) - 1]?.trim();
  const seen = by === undefined ? '' : `\n  ${files?.join(', ')}: ${by}`;
  console.info(
    `${number}. ${fate}: ${change.file}:${countLines(source, change)} ${change.operator}\n  ${line}${seen}`,
  );
}
