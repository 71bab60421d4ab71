import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import packageJson from '../package.json' with { type: 'json' };
import { settingsTable } from '../platform/config/config.ts';

const root = path.resolve(import.meta.dirname, '..');
const readme = readFileSync(path.join(root, 'README.md'), 'utf8');

describe('the README', () => {
  it('lists every setting as the code describes it', () => {
    const rows = settingsTable().map(
      ({ name, default: standard, meaning }) =>
        `| ${name} | ${standard} | ${meaning.replaceAll('|', String.raw`\|`)} |`,
    );
    const [, table = ''] = /<!-- settings:[^\n]*-->\n([\s\S]*?)<!-- \/settings -->/.exec(readme) ?? [];
    expect(table.trim().split('\n').slice(2)).toEqual(rows);
  });

  it('names only scripts that exist', () => {
    const named = [...readme.matchAll(/npm run ([a-z]+(?::[a-z]+)?)/g)].map(([, script]) => script ?? '');
    expect(named.filter((script) => !(script in packageJson.scripts))).toEqual([]);
  });
});

/** Prose without code blocks and addresses. */
function proseOf(file: string): string {
  return readFileSync(path.join(root, file), 'utf8')
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/https?:\S+/g, '');
}

/** What reads like a folder (`kit/`) or a file of ours (`kit/kiln.ts`); `<type>` and NAME stand for any name. */
const pathPattern =
  /(?<![\w./:@{$-])[\w.<>*-]+(?:\/[\w.<>*-]+)*(?:\/|\.(?:ts|json|md|html|yml|graphql))(?![\w/])/g;

/**
 * Paths of a document that do not exist. A path counts from the root, from the document's own folder, or from a folder that
 * the same line names (as a table of rooms does).
 */
function missingPaths(file: string): string[] {
  return proseOf(file)
    .split('\n')
    .flatMap((line) => {
      const found = [...line.matchAll(pathPattern)].map(([name]) => name.replace(/\/$/, ''));
      const bases = ['.', path.dirname(file)].map((base) => path.join(root, base));
      const folders = found.flatMap((name) => bases.map((base) => path.join(base, name))).filter(isFolder);
      return found.filter((name) => {
        const pattern = name.replaceAll(/<\w+>|\bNAME\b/g, '*');
        return ![...bases, ...folders].some((base) => globSync(path.join(base, pattern)).length > 0);
      });
    });
}

function isFolder(name: string): boolean {
  return existsSync(name) && statSync(name).isDirectory();
}

describe('the documents for contributors', () => {
  const documents = ['CONTRIBUTING.md', ...globSync('{,*/,subgraphs/*/}README.md', { cwd: root })].filter(
    (file) => !file.startsWith('node_modules'),
  );

  it('are there for every area', () => {
    const areas = ['gateway', 'platform', 'rest-compat', 'sandbox', 'schema', 'test'];
    expect(areas.filter((area) => !documents.includes(`${area}/README.md`))).toEqual([]);
  });

  it.each(documents)('%s names only paths that exist', (file) => {
    expect(missingPaths(file)).toEqual([]);
  });

  it.each(documents.filter((file) => file.includes('/')))('%s has at most 25 lines', (file) => {
    expect(readFileSync(path.join(root, file), 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(25);
  });
});
