import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import packageJson from '../package.json' with { type: 'json' };
import { createCatalog } from '../subgraphs/media/generators/catalog/catalog.ts';
import { findCapabilities, registeredNames } from './providers/environment/environment.ts';

const root = path.resolve(import.meta.dirname, '..');
const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/{,clients/,decisions/}*.md', { cwd: root })];
const readText = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** The kinds of work behind each column of the README's table of providers. */
const COLUMNS: readonly (readonly string[])[] = [
  ['IMAGE'],
  ['DESCRIPTION'],
  ['VIDEO'],
  ['FRAME_VIDEO'],
  ['SPEECH', 'VOICE_CLONE'],
  ['CHAT'],
  ['ANALYSIS'],
  ['LIP_SYNC'],
  ['CHARACTER', 'CHARACTER_IMAGE'],
  ['PERSON_DETECTION', 'HUMAN_VIDEO', 'AVATAR_SOURCE', 'AVATAR', 'AVATAR_VIDEO'],
  ['COMFY_WORKFLOW'],
];

/** Kinds of work that a provider is able to do: its models are those of GENERATORS_FILE. */
function listKinds(provider: string): readonly string[] {
  const { jobs = {}, calls = {}, chat } = findCapabilities(provider) ?? {};
  return [...Object.keys(jobs), ...Object.keys(calls), ...(chat === undefined ? [] : ['CHAT'])];
}

describe('the README', () => {
  it('has at most 150 lines', () => {
    expect(readText('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  });

  it('says of every provider which kinds of work it does', () => {
    const rows = registeredNames()
      .toSorted()
      .map((provider) => {
        const known = createCatalog()
          .listModels(provider)
          .flatMap((model) => model.kinds);
        const kinds = known.length > 0 ? known : listKinds(provider);
        expect(kinds.filter((kind) => !COLUMNS.flat().includes(kind))).toEqual([]);
        return [
          provider,
          ...COLUMNS.map((column) => (column.some((kind) => kinds.includes(kind)) ? 'yes' : '')),
        ];
      });
    const [, table = ''] = /^\| provider \|.*\n.*\n((?:\|.*\n)+)/m.exec(readText('README.md')) ?? [];
    const lines = table.trimEnd().split('\n');
    expect(
      lines.map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      ),
    ).toEqual(rows);
  });

  it('and the pages name only scripts that exist', () => {
    const missing = pages.flatMap((file) =>
      [...readText(file).matchAll(/npm run ([a-z]+(?::[a-z]+)?)/g)]
        .filter(([, script = '']) => !(script in packageJson.scripts))
        .map(([command]) => `${file}: ${command}`),
    );
    expect(missing).toEqual([]);
  });

  it('and the pages link only to what exists', () => {
    const missing = pages.flatMap((file) =>
      [...readText(file).matchAll(/\]\((?!https?:)([^)#]+)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !existsSync(path.join(root, path.dirname(file), target)))
        .map((target) => `${file}: ${target}`),
    );
    expect(missing).toEqual([]);
  });
});

describe('the index of decisions', () => {
  it('names every page once, in the order of their dates', () => {
    const listed = [
      ...readText('docs/decisions/README.md').matchAll(/^\| ([\d-]+) \| \[.*?\]\((.*?)\) \| \S/gm),
    ];
    const files = globSync('docs/decisions/2*.md', { cwd: root }).map((file) => path.basename(file));
    expect(listed.map(([, , file]) => file)).toEqual(files.toSorted());
    expect(listed.filter(([, date = '', file = '']) => !file.startsWith(date))).toEqual([]);
  });
});

/** Prose without code blocks and addresses. */
function readProse(file: string): string {
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
  return readProse(file)
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
    const areas = [
      'clients',
      'faces',
      'gateway',
      'migration',
      'platform',
      'rest-compat',
      'sandbox',
      'schema',
      'test',
      'tools',
    ];
    expect(areas.filter((area) => !documents.includes(`${area}/README.md`))).toEqual([]);
  });

  it.each(documents)('%s names only paths that exist', (file) => {
    expect(missingPaths(file)).toEqual([]);
  });

  it.each(documents.filter((file) => file.includes('/')))('%s has at most 25 lines', (file) => {
    expect(readFileSync(path.join(root, file), 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(25);
  });
});
