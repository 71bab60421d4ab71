import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect, it } from 'vitest';

import { AREAS, selectFiles } from './areas.ts';
import { changed, findChanges } from './changes.ts';
import { importedBy, nearestTests } from './nearest-tests.ts';
import { tryChange } from './trial.ts';
import { openTypes } from './types.ts';

const made = (source: string) => findChanges('it.ts', source).map((change) => changed(source, change));

it.each([
  ['const f = (a = 5) => a;', 'const f = (a = 0) => a;'],
  [`const { a = 'x' } = b;`, `const { a = 'other' } = b;`],
  ['const a = b ?? 7;', 'const a = 7;'],
  ['if (a) b(); else c();', 'if (!(a)) b(); else c();'],
  ['if (a) b(); else c();', 'if (a) b(); else {}'],
  ['while (a) b();', 'while (!(a)) b();'],
  ['function f() { throw a; }', 'function f() { ; }'],
  ['function f() { return; }', 'function f() { ; }'],
  ['f(...a);', 'f(...[]);'],
])('changes %s into %s', (source, expected) => {
  expect(made(source)).toContain(expected);
});

it('changes nothing into itself', () => {
  expect(made('const f = (a = 0) => a;')).toEqual(['const f = (a = 1) => a;']);
});

it('leaves alone what is generated', () => {
  const tracked = execFileSync('git', ['ls-files', '*.ts', '*.tsx'], { encoding: 'utf8' }).trim().split('\n');
  const files = Object.keys(AREAS).flatMap((area) => selectFiles(area, tracked));
  const isGenerated = (file: string) => readFileSync(file, 'utf8').startsWith('// Generated');
  expect(files.filter((file) => isGenerated(file))).toEqual([]);
});

it('asks about a thread whoever starts it', () => {
  const files = ['recording-thread.ts', 'recording.ts', 'recording.test.ts'];
  const [thread = '', ...others] = files.map((name) => `platform/object-store/measure/${name}`);
  const importers = importedBy(process.cwd(), [thread, ...others]);
  expect(nearestTests(importers, thread, 5)).toEqual([others[1]]);
});

const late = { files: ['it.test.ts'], by: 'it ends', isLate: true };
it.each([
  ['killed', null],
  ['without an end', late],
] as const)('asks without the change what ran into a time limit: %s', async (fate, again) => {
  const root = mkdtempSync(path.join(tmpdir(), 'kiln-mutants-test-'));
  const file = path.join(root, 'it.ts');
  writeFileSync(file, 'a + b;');
  const [change] = findChanges('it.ts', 'a + b;').filter(({ replacement }) => replacement === '-');
  const asked: string[] = [];
  const ask = async () => {
    asked.push(readFileSync(file, 'utf8'));
    return asked.length === 1 ? late : again;
  };
  const types = { hold: async () => true, close: async () => undefined };
  try {
    if (change === undefined) throw new Error('no change');
    const trial = { root, types, runs: { ask }, users: [], tests: late.files };
    expect((await tryChange(change, trial)).fate).toBe(fate);
    expect(asked).toEqual(['a - b;', 'a + b;']);
  } finally {
    rmSync(root, { recursive: true });
  }
});

it('refuses no change for the errors of the one before, which was taken back', async () => {
  const root = mkdtempSync(path.join(tmpdir(), 'kiln-mutants-test-'));
  const write = (file: string, text: string): void => writeFileSync(path.join(root, file), text);
  mkdirSync(path.join(root, 'console'));
  for (const folder of ['', 'console/']) {
    write(
      `${folder}tsconfig.json`,
      '{ "compilerOptions": { "allowImportingTsExtensions": true }, "files": ["user.ts"] }',
    );
    write(`${folder}user.ts`, 'export const user = 1;');
  }
  write('one.ts', 'export const one = 1;');
  write('other.ts', 'export const other = 1;');
  write(
    'user.ts',
    `import { one } from './one.ts'; import { other } from './other.ts'; export const sum: number = one + other;`,
  );
  const types = await openTypes(root);
  try {
    write('one.ts', `export const one = '1';`);
    expect(await types.hold('one.ts', ['user.ts'])).toBe(false);
    write('one.ts', 'export const one = 1;');
    write('other.ts', 'export const other = 2;');
    expect(await types.hold('other.ts', ['user.ts'])).toBe(true);
  } finally {
    await types.close();
    rmSync(root, { recursive: true });
  }
});
