import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The one that starts a process for a whole run of tests: the database server, which ends by itself. */
const OF_THE_RUN = 'test/kit/database/postgres.ts';

/**
 * Those with a process of their own for another reason: kysely-codegen looks through the modules of the whole process, and
 * stumbles over some that others have loaded; the test of local executors puts odd resolvers into Kiln's schemas; that of
 * React's hooks puts a page into the process.
 */
export const ALONE: readonly string[] = [
  'schema/tables.test.ts',
  'tools/executor-differential/local/local.test.ts',
  'test/clients/react.test.ts',
];

const ROOMS =
  '{gateway,platform,faces,rest-compat,sandbox,schema,subgraphs,console,migration,test,tools}/**/*.ts';
/** Tests and what helps them: what they test starts processes only when they say so. */
const IS_TEST_CODE = /\.(test|contract)\.ts$|^(test|tools)\/|\/testing\//;

/**
 * The test files that start processes, by themselves or by a helper that they import (`node:child_process`, `node:cluster`), relative to
 * `root`. `npm run test:changed` leaves them to `npm test`. Besides those of ALONE.
 */
export function spawningTests(root: string): readonly string[] {
  const files = globSync(ROOMS, { cwd: root, exclude: (name) => name.includes('node_modules') })
    .filter((file) => IS_TEST_CODE.test(file) && file !== OF_THE_RUN)
    .toSorted();
  const importers = new Map<string, string[]>();
  const spawning = new Set<string>();
  for (const file of files) {
    for (const [, from = ''] of readFileSync(path.join(root, file), 'utf8').matchAll(/\bfrom '([^']+)'/g)) {
      if (from === 'node:child_process' || from === 'node:cluster') spawning.add(file);
      if (!from.startsWith('.')) continue;
      const imported = path.join(path.dirname(file), from);
      importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  }
  // A set that grows while it is walked is walked to its end.
  for (const file of spawning) for (const importer of importers.get(file) ?? []) spawning.add(importer);
  return [...ALONE, ...[...spawning].filter((file) => file.endsWith('.test.ts'))].toSorted();
}
