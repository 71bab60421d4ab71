import { afterAll, beforeAll, beforeEach } from 'vitest';

import type { PaceChange } from '../../../sandbox/control/latency-profiles.ts';
import { must, openWorld, type World } from './world.ts';

/** A world for the tests of the file or block that calls this, as new and of that pace before each of them. */
export function useWorld(pace: PaceChange): () => World {
  let open: World | undefined;
  const world = () => must(open, 'world');
  beforeAll(async () => {
    open = await openWorld();
  });
  afterAll(() => open?.close());
  beforeEach(async () => {
    await world().reset();
    await world().pace(pace);
  });
  return world;
}
