import path from 'node:path';

import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest, most of it waiting (for claims that grow stale, processes that start): begun first, so that
 * others compute meanwhile and none of these is left alone at the end. A clean clone knows no durations.
 */
const LONGEST = [
  'test/chaos/chaos.test.ts',
  'test/model/model.test.ts',
  'test/statements/statements.test.ts',
  'test/durability/kill.test.ts',
  'test/providers/contract/contract.test.ts',
  'test/topology/split.test.ts',
  'test/providers/engine/engine-faults.test.ts',
  'test/durability/pause.test.ts',
  'test/durability/start-while-away.test.ts',
  'test/durability/start.test.ts',
  'subgraphs/media/tasks/work/durability.test.ts',
  'subgraphs/media/tasks/work/worker.test.ts',
  'test/durability/shutdown.test.ts',
  'test/policy/matrix.test.ts',
  'subgraphs/media/webhooks/webhooks.test.ts',
  'platform/queue/pg-boss/pg-boss-queue.test.ts',
  'test/subscriptions/synchronous.test.ts',
  'subgraphs/workflow/executions/executions.test.ts',
  'test/providers/engine/comfyui-engine.test.ts',
  'test/topology/planned-stop.test.ts',
  'test/topology/unnoticed.test.ts',
  'test/executor/executor.test.ts',
  'platform/database/embedded-postgres/embedded-postgres.test.ts',
  'test/rest/operations.test.ts',
  'test/policy/ownership.test.ts',
  'test/chaos/verify/verify.test.ts',
  'test/browser/browser.test.ts',
  'test/attack/attack.test.ts',
  'test/rest/media/uploads.test.ts',
  'test/rest/workflow/tasks.test.ts',
];

/** 0 for the longest; all that are not named come after those. */
function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.indexOf(path.relative(import.meta.dirname, moduleId));
  return rank === -1 ? LONGEST.length : rank;
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((one, other) => rankOf(one) - rankOf(other));
  }
}

export default defineConfig({
  // Vitest would load graphql's ESM and CJS files side by side; one copy only (graphql compares classes by identity).
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['**/*.test.ts'],
    exclude: ['**/node_modules/**', '.kiln/**'],
    // Bounds of what is stuck: on a machine that is very busy everything takes many times as long, and is right.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 100_000 } },
    pool: 'forks',
    globalSetup: 'test/kit/processes/own-run.ts',
    setupFiles: 'test/kit/processes/own-file.ts',
    // Many tests wait for something most of their time: more of them than cores keeps the cores busy.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    env: {
      // Every test file is a process of its own, and many start others: what Node has compiled is kept for the next one.
      NODE_COMPILE_CACHE: path.join(import.meta.dirname, 'node_modules/.cache/compiled'),
      // A stock ApolloGateway, which we are compared with, would report to Apollo.
      APOLLO_TELEMETRY_DISABLED: 'true',
    },
  },
});
