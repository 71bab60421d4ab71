import { readFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import {
  findArea,
  betweenFolders,
  circles,
  crowdedFolders,
  isTestSupport,
  readArrows,
  readFiles,
  unlistedArrows,
} from './architecture/imports.ts';
import { AREAS } from './architecture/rooms.ts';

/** Only the composition root and what it composes with may know the sandbox. */
const sandboxUsers = /^gateway\/main\.ts$|^gateway\/composition\//;

/** Folders whose files are all of one sort, and may be more than fifteen. */
const CATALOGS = {
  'rest-compat/media': 'a table of routes per documented section',
  'subgraphs/media/database/migrations': 'the migrations, none of which may go',
  'subgraphs/workflow/database/migrations': 'the migrations, none of which may go',
  'subgraphs/media/schema': 'the GraphQL types, one subject per file',
  'subgraphs/workflow/schema': 'the GraphQL types, one subject per file',
};

const MOST_FILES = 15;

const root = path.resolve(import.meta.dirname, '..');

describe('the architecture', () => {
  const files = readFiles(root, Object.keys(AREAS)).filter((file) => !isTestSupport(file));
  const arrows = readArrows(root, files);
  const toSandbox = arrows.filter(
    ({ from, to }) => findArea(to, AREAS) === 'sandbox' && findArea(from, AREAS) !== 'sandbox',
  );

  it('reads a plausible number of imports', () => {
    expect(arrows.length).toBeGreaterThan(2_000);
  });

  it('has no import that its rooms do not list', () => {
    expect(unlistedArrows(arrows, AREAS)).toEqual([]);
  });

  it('has no circle of files', () => {
    expect(circles(arrows)).toEqual([]);
  });

  it('has no circle of folders', () => {
    expect(circles(betweenFolders(arrows))).toEqual([]);
  });

  it(`has no folder with more than ${MOST_FILES} files but catalogs`, () => {
    const catalogs = Object.keys(CATALOGS);
    expect(
      crowdedFolders(
        files.filter((file) => !catalogs.includes(path.posix.dirname(file))),
        MOST_FILES,
      ),
    ).toEqual([]);
  });

  it('lets only the composition root know the sandbox', () => {
    expect(toSandbox.filter(({ from }) => !sandboxUsers.test(from))).toEqual([]);
  });

  it('loads the sandbox only where it runs, as production does without it', () => {
    const early = toSandbox
      .map(({ from }) => readFileSync(path.join(root, from), 'utf8'))
      .flatMap((source) => source.match(/^import (?!type\b).*'[^']*\/sandbox\/.*$/gm) ?? []);
    expect(early).toEqual([]);
  });

  it('lets only the composition root know the migration, loaded only where it is there, and it only the migrations of the gateway', () => {
    const isMigration = (file: string) => file.startsWith('migration/');
    const crossing = arrows.filter(({ from, to }) => isMigration(from) !== isMigration(to));
    const inwards = crossing.filter(({ to }) => isMigration(to));
    expect([...new Set(inwards.map(({ from }) => from))]).toEqual(['gateway/composition/rest-handlers.ts']);
    expect(readFileSync(path.join(root, 'gateway/composition/rest-handlers.ts'), 'utf8')).not.toMatch(
      /^import (?!type\b).*\/migration\//m,
    );
    const gateway = crossing.filter(({ to }) => to.startsWith('gateway/')).map(({ to }) => to);
    expect(gateway).toEqual(['gateway/migrations/all.ts']);
  });

  it('never imports test support from the product', () => {
    expect(arrows.filter(({ to }) => isTestSupport(to))).toEqual([]);
  });

  it('reads the environment in platform/config only', () => {
    const readers = files.filter((file) =>
      /process\.env\b/.test(readFileSync(path.join(root, file), 'utf8')),
    );
    expect(readers.filter((file) => !file.startsWith('platform/config/'))).toEqual([]);
  });
});
