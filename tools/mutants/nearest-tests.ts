import { readFileSync } from 'node:fs';
import path from 'node:path';

import { parseSync } from 'oxc-parser';

/** How a thread or a process of its own is named: by its address. */
const ADDRESSES = /new URL\(\s*'(\.[^']+\.tsx?)',\s*import\.meta\.url/g;

/** Which file imports or starts which, in both directions, without packages. */
export type ImportedBy = ReadonlyMap<string, ReadonlySet<string>>;

/** Reads the imports of these files (relative to `root`). */
export function importedBy(root: string, files: readonly string[]): ImportedBy {
  const known = new Set(files);
  const importers = new Map<string, Set<string>>();
  for (const file of files) {
    const text = readFileSync(path.join(root, file), 'utf8');
    const { module } = parseSync(file, text);
    const requests = [
      ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...module.staticExports.flatMap(({ entries }) => entries.map((entry) => entry.moduleRequest?.value)),
      ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
      ...[...text.matchAll(ADDRESSES)].map(([, address]) => address),
    ];
    for (const request of requests) {
      if (request?.startsWith('.') !== true) continue;
      const target = path.join(path.dirname(file), request);
      if (known.has(target)) importers.set(target, (importers.get(target) ?? new Set()).add(file));
    }
  }
  return importers;
}

/**
 * The test files that use a file: those named like it or its folders first (test/payments for what is in payments), then
 * the nearest by imports; of those equally near, the ones in nearer folders.
 */
export function nearestTests(importers: ImportedBy, file: string, most: number): readonly string[] {
  const found: { readonly test: string; readonly rank: number }[] = [];
  const seen = new Set([file]);
  let steps = 0;
  for (let level = [file]; level.length > 0; steps += 1) {
    const next = level.flatMap((each) => [...(importers.get(each) ?? [])]).filter((each) => !seen.has(each));
    level = [...new Set(next)];
    for (const each of level) {
      seen.add(each);
      if (/\.test\.tsx?$/.test(each)) found.push({ test: each, rank: rankTest(file, each, steps) });
    }
  }
  return found
    .sort((one, other) => one.rank - other.rank)
    .slice(0, most)
    .map(({ test }) => test);
}

/** Lower is nearer: imports count most, then folders; a test named alike is as near as one some imports nearer. */
function rankTest(file: string, test: string, steps: number): number {
  const words = splitWords(file);
  const alike = splitWords(test).filter((word) => words.includes(word)).length;
  return steps * 10 + distance(file, test) - alike * 25;
}

/** The folders and the name of a file but for what many are called. */
function splitWords(file: string): readonly string[] {
  const many = [
    'test',
    'subgraphs',
    'gateway',
    'media',
    'workflow',
    'providers',
    'platform',
    'vendors',
    'ts',
    'schema',
  ];
  return [...new Set(file.split(/[/.]/))].filter((word) => !many.includes(word));
}

/** What starts servers and processes for tests: whoever imports it takes seconds. */
const SLOW = /^test\/kit\/|\/testing\/.*process\.ts$/;

/** The files that import, by whatever way, something that starts servers or processes. */
export function slowFiles(importers: ImportedBy): ReadonlySet<string> {
  const slow = new Set([...importers.keys()].filter((file) => SLOW.test(file)));
  // A set that grows while it is walked is walked to its end.
  for (const file of slow) for (const importer of importers.get(file) ?? []) slow.add(importer);
  return slow;
}

/** Folders up and down from one file to the other. */
function distance(one: string, other: string): number {
  return path.relative(path.dirname(one), path.dirname(other)).split(path.sep).filter(Boolean).length;
}
