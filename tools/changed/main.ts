import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import concurrently from 'concurrently';

import { LONGEST } from '../../test/kit/longest-tests.ts';
import { spawningTests } from '../../test/kit/processes/spawning-tests.ts';
import { importedBy } from '../mutants/nearest-tests.ts';
import { selectTests } from './selection.ts';

/**
 * `npm run test:changed`: types, and lint, format and the nearest tests of what differs from main (`--since REVISION`: from
 * that), committed or not. What starts processes or takes longest is left to `npm test`.
 */
const { values } = parseArgs({ options: { since: { type: 'string', default: 'main' } } });
const root = path.resolve(import.meta.dirname, '../..');

function git(...words: readonly string[]): readonly string[] {
  return execFileSync('git', words, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
}

const isThere = (file: string): boolean => existsSync(path.join(root, file));
const [base = 'HEAD'] = git('merge-base', 'HEAD', values.since);
const untracked = git('ls-files', '--others', '--exclude-standard');
const changed = [...git('diff', '--name-only', base), ...untracked].filter(isThere);
const files = [...git('ls-files'), ...untracked].filter((file) => /\.tsx?$/.test(file) && isThere(file));
const tests = selectTests(
  changed,
  files.filter((file) => file.endsWith('.test.ts')),
  {
    importers: importedBy(root, files),
    left: new Set([...LONGEST, ...spawningTests(root)]),
    readText: (file) => readFileSync(path.join(root, file), 'utf8'),
  },
);

const quoted = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(' ');
const modules = quoted(changed.filter((file) => /\.(tsx?|cjs)$/.test(file)));
const commands = [
  ...(modules === '' ? [] : [{ name: 'types', command: 'npm run types' }]),
  ...(modules === '' ? [] : [{ name: 'lint', command: `npm run lint -- ${modules}` }]),
  { name: 'format', command: `npm run format -- --check --no-error-on-unmatched-pattern ${quoted(changed)}` },
  ...(tests.length === 0 ? [] : [{ name: 'tests', command: `npx vitest run ${quoted(tests)}` }]),
];
process.stdout.write(`${changed.length} files differ from ${values.since}; ${tests.length} test files.\n`);
if (changed.length > 0) {
  const { result } = concurrently(commands, { cwd: root, group: true });
  await result.catch(() => process.exit(1));
}
