import { test } from 'vitest';

import { startEngine, type TestEngine } from './engine.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/**
 * A test with an engine and an upstream of its own, which end with it, so that those of a file can run at the same time: most of
 * their time they wait for a retry or the next poll.
 */
export const engineTest = test.extend<{ upstream: Upstream; engine: TestEngine }>({
  // oxlint-disable-next-line eslint/no-empty-pattern -- Vitest reads the pattern
  upstream: async ({}, use) => {
    const upstream = await startUpstream();
    await use(upstream);
    await upstream.close();
  },
  // After the upstream, which ends last then.
  // oxlint-disable-next-line eslint/no-empty-pattern -- as above
  engine: async ({}, use) => {
    const engine = await startEngine();
    await use(engine);
    await engine.stop();
  },
});
