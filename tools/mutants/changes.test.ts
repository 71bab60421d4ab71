import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import { AREAS, selectFiles } from './areas.ts';
import { changed, findChanges } from './changes.ts';

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
