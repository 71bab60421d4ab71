import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

/**
 * Which folder may import which: the table of design "arrows go one way". The test reads every import in the
 * repository and fails on an edge that is not listed here.
 */
const mayImport: Record<string, readonly string[]> = {
  platform: [],
  schema: ['subgraphs/media', 'subgraphs/workflow', 'rest-compat', 'platform'],
  sandbox: ['platform'],
  'subgraphs/media': ['platform'],
  'subgraphs/workflow': ['platform'],
  'rest-compat': ['platform'],
  gateway: ['platform', 'rest-compat', 'subgraphs/media', 'subgraphs/workflow', 'schema', 'sandbox'],
  test: ['platform', 'rest-compat', 'subgraphs/media', 'subgraphs/workflow', 'schema', 'sandbox', 'gateway'],
};

/** Only the composition root and what it composes with may know the sandbox. */
const sandboxUsers = /^gateway\/(main|compose[a-z-]*)\.ts$|^gateway\/composition\//;

/** Tests and what only they use; it may reach for the kit, and the product never imports it. */
function isTestSupport(file: string): boolean {
  return /^test\/|\.(test|fixture|contract)\.ts$|\/testing\/|\/test-kit\.ts$/.test(file);
}

const root = path.resolve(import.meta.dirname, '..');
const areas = Object.keys(mayImport);

function areaOf(file: string): string | undefined {
  return areas.find((area) => file.startsWith(`${area}/`));
}

interface Edge {
  readonly from: string;
  readonly to: string;
}

function importEdges(): Edge[] {
  const files = areas.flatMap((area) => globSync(`${area}/**/*.ts`, { cwd: root }));
  return files.flatMap((file) => {
    const source = readFileSync(path.join(root, file), 'utf8');
    return [...source.matchAll(/(?:from|import\(|import)\s*'(\.[^']+)'/g)].map((match) => ({
      from: file,
      to: path.posix.join(path.posix.dirname(file), match[1] ?? ''),
    }));
  });
}

describe('the architecture', () => {
  const edges = importEdges();
  const product = edges.filter(({ from }) => !isTestSupport(from));

  it('reads a plausible number of imports', () => {
    expect(edges.length).toBeGreaterThan(100);
  });

  it('keeps imports flowing one way', () => {
    const violations = product.filter(({ from, to }) => {
      const [source, target] = [areaOf(from), areaOf(to)];
      return (
        source !== undefined &&
        target !== undefined &&
        source !== target &&
        !mayImport[source]?.includes(target)
      );
    });
    expect(violations).toEqual([]);
  });

  it('lets only the composition root know the sandbox', () => {
    const violations = product.filter(
      ({ from, to }) => areaOf(to) === 'sandbox' && areaOf(from) !== 'sandbox' && !sandboxUsers.test(from),
    );
    expect(violations).toEqual([]);
  });

  it('loads the sandbox only where it runs, as production does without it', () => {
    const early = product
      .filter(({ from, to }) => areaOf(to) === 'sandbox' && areaOf(from) !== 'sandbox')
      .map(({ from }) => readFileSync(path.join(root, from), 'utf8'))
      .flatMap((source) => source.match(/^import (?!type\b).*'[^']*\/sandbox\/.*$/gm) ?? []);
    expect(early).toEqual([]);
  });

  it('never imports test support from the product', () => {
    expect(product.filter(({ to }) => isTestSupport(to))).toEqual([]);
  });

  it('reads the environment in platform/config only', () => {
    const readers = areas
      .filter((area) => area !== 'test')
      .flatMap((area) => globSync(`${area}/**/*.ts`, { cwd: root }))
      .filter(
        (file) =>
          !file.endsWith('.test.ts') && /process\.env\b/.test(readFileSync(path.join(root, file), 'utf8')),
      );
    const allowed = /^platform\/config\//;
    expect(readers.filter((file) => !allowed.test(file))).toEqual([]);
  });
});
