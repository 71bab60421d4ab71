import { afterAll, beforeAll, beforeEach } from 'vitest';

import type { LatencyChange } from '../../../sandbox/control/control.ts';
import { must, openEnvironment, type Environment } from './environment.ts';

/** A world for the tests of the file or block that calls this, as new and of that latency before each of them. */
export function useEnvironment(latency: LatencyChange): () => Environment {
  let open: Environment | undefined;
  const world = () => must(open, 'world');
  beforeAll(async () => {
    open = await openEnvironment();
  });
  afterAll(() => open?.close());
  beforeEach(async () => {
    await world().reset();
    await world().setLatency(latency);
  });
  return world;
}
