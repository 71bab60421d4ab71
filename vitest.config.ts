import path from 'node:path';

import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Vitest would load graphql's ESM and CJS files side by side; one copy only (graphql compares classes by identity).
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['**/*.test.ts'],
    exclude: ['node_modules/**', '.kiln/**'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // Many tests wait for something most of their time: more of them than cores keeps the cores busy.
    maxWorkers: 3,
    // What Node has compiled is kept for the next process: every file is one of its own, and many start others (Kilns).
    env: { NODE_COMPILE_CACHE: path.join(import.meta.dirname, 'node_modules/.cache/compiled') },
  },
});
