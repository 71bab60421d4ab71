import { expect, it } from 'vitest';

import { checkModel } from './model.ts';

/** As many runs as fit into a quarter of a minute; `npm run model -- --runs N` tries more, and other seeds. */
it('ends every task, buys nothing twice and gives slots back, whatever is interleaved', async () => {
  const tried = await checkModel({ runs: 2_000, seed: 20_261_122, timeoutMs: 15_000 });
  expect(tried).toBeGreaterThan(0);
}, 120_000);
