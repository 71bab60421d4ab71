import { afterAll, beforeAll, beforeEach } from 'vitest';

import type { LatencyChange } from '../../../sandbox/control/latency-profiles.ts';
import { must, openWorld, type World } from './environment.ts';

/** A world for the tests of the file or block that calls this, as new and of that latency before each of them. */
export function useWorld(latency: LatencyChange): () => World {
  let open: World | undefined;
  const world = () => must(open, 'world');
  beforeAll(async () => {
    open = await openWorld();
  });
  afterAll(() => open?.close());
  beforeEach(async () => {
    await world().reset();
    await world().latency(latency);
  });
  return world;
}
