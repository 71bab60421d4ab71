import { afterAll, beforeAll, beforeEach } from 'vitest';

import { must, openStage, type Stage } from './environment.ts';

/**
 * A stage for the tests of the file or block that calls this: opened before the first, closed after the last. What one
 * test sent or planned, the next does not see.
 */
export function useStage(name: string): Omit<Stage, 'close'> {
  let open: Stage | undefined;
  beforeAll(async () => {
    open = await openStage(name);
  });
  afterAll(() => open?.close());
  beforeEach(() => open?.door.forget());
  const stage = () => must(open, 'stage');
  return {
    get provider() {
      return stage().provider;
    },
    get door() {
      return stage().door;
    },
    get context() {
      return stage().context;
    },
  };
}
