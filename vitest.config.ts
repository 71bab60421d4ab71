import { createHash } from 'node:crypto';
import path from 'node:path';

import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

import { preact } from './console/aliases.ts';
import { extent, isLeftOut, WHOLE_ONLY } from './test/kit/extent.ts';
import { LONGEST } from './test/kit/longest-tests.ts';
import { ALONE } from './test/kit/processes/spawning-tests.ts';

/** Vitest keeps what it was asked for to itself. */
const isShuffled = process.argv.some((word) => word.startsWith('--sequence.shuffle.files'));

/** One project after the other, the short files of each spread among its long ones; with `--sequence.shuffle.files` any order, by the seed. */
class SpreadShortFiles extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seed } = this.ctx.config.sequence;
    const hash = ({ moduleId }: TestSpecification) =>
      createHash('sha256').update(`${seed} ${moduleId}`).digest().readUInt32BE();
    const order = (some: TestSpecification[]) =>
      isShuffled ? some.toSorted((one, other) => hash(one) - hash(other)) : spreadShortFiles(some);
    const sorted = await super.sort(files);
    // A worker is kept for the next file only where that is of the same project.
    const projects = [...new Set(sorted.map(({ project }) => project.name))].toSorted();
    return projects.flatMap((name) => order(sorted.filter(({ project }) => project.name === name)));
  }
}

/**
 * The longest first, each followed by its share of the others: the long ones wait most of their time, and the others compute
 * meanwhile. The smallest of these first, as lint computes beside them.
 */
function spreadShortFiles(files: readonly TestSpecification[]): TestSpecification[] {
  const rank = ({ moduleId }: TestSpecification) =>
    LONGEST.indexOf(path.relative(import.meta.dirname, moduleId));
  const long = files.filter((file) => rank(file) !== -1).toSorted((one, other) => rank(one) - rank(other));
  const short = files.filter((file) => rank(file) === -1).toReversed();
  if (long.length === 0) return short;
  const share = Math.ceil(short.length / long.length);
  return long.flatMap((file, index) => [file, ...short.slice(index * share, (index + 1) * share)]);
}

/** What the console's router and its menus import loads React by itself, past the aliases. */
const externalStores = [
  {
    find: 'use-sync-external-store/shim/with-selector',
    replacement: path.join(import.meta.dirname, 'console/src/testing/with-selector.ts'),
  },
  { find: /^use-sync-external-store\/shim$/, replacement: 'preact/compat' },
];
const leftOut = Object.keys(WHOLE_ONLY).filter((file) => isLeftOut(file, process.argv.slice(2)));
const exclude = ['**/node_modules/**', '.kiln/**', ...leftOut];

export default defineConfig({
  // Vitest would load graphql's ESM and CJS files side by side; one copy only (graphql compares classes by identity).
  resolve: {
    alias: [
      { find: /^graphql$/, replacement: 'graphql/index.js' },
      // As a workspace it is its sources; what users install is tried in test/clients.
      {
        find: /^@kiln\/client$/,
        replacement: path.join(import.meta.dirname, 'clients/typescript/src/index.ts'),
      },
      {
        find: /^@kiln\/client\/socket$/,
        replacement: path.join(import.meta.dirname, 'clients/typescript/src/socket.ts'),
      },
    ],
  },
  test: {
    projects: [
      // Many files in one process, one after the other: each cleans up after itself.
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['**/*.test.ts'],
          exclude: [...exclude, ...ALONE],
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      // Components of the console: one page for all files of a process, emptied after each test.
      {
        extends: true,
        resolve: { alias: [...preact, ...externalStores] },
        test: {
          name: 'console',
          // Loaded by Vite, so that they take Preact too.
          server: {
            deps: {
              inline: [
                /@testing-library\/react/,
                /@base-ui/,
                /@floating-ui\/react-dom/,
                /@apollo\/client/,
                /@tanstack/,
                /markdown-to-jsx/,
              ],
            },
          },
          include: ['console/src/**/*.test.tsx'],
          exclude,
          isolate: false,
          // They wait for nothing, and each process loads the page anew: first, and in two.
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
          environment: 'happy-dom',
          environmentOptions: { happyDOM: { url: 'http://localhost/console/' } },
          setupFiles: 'console/src/testing/setup.ts',
          // Pages say times of day in the zone of the browser.
          env: { TZ: 'UTC' },
        },
      },
      // Those that mind what other files have loaded.
      {
        extends: true,
        test: { name: 'alone', include: [...ALONE], exclude, sequence: { groupOrder: 1 } },
      },
    ],
    // Bounds of what is stuck: on a machine that is very busy everything takes many times as long, and is right.
    testTimeout: extent(180_000, 1_200_000),
    hookTimeout: 180_000,
    teardownTimeout: 180_000,
    expect: { poll: { timeout: 100_000 } },
    pool: 'forks',
    // V8 collects the whole heap of a process that has little to do, as one has that waits for a Kiln, again and again.
    execArgv: ['--no-memory-reducer'],
    globalSetup: 'test/kit/processes/own-run.ts',
    setupFiles: 'test/kit/processes/own-file.ts',
    // Many tests wait for something most of their time: more of them than cores keeps the cores busy.
    maxWorkers: 6,
    sequence: { sequencer: SpreadShortFiles },
    env: {
      // Many tests start programs: what Node has compiled is kept for the next one.
      NODE_COMPILE_CACHE: path.join(import.meta.dirname, 'node_modules/.cache/compiled'),
      // A stock ApolloGateway, which we are compared with, would report to Apollo.
      APOLLO_TELEMETRY_DISABLED: 'true',
    },
  },
});
