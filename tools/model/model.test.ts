import { expect, it } from 'vitest';

import { extent } from '../../test/kit/extent.ts';
import { checkModel } from './model.ts';

/** Runs of one seed; `npm run model -- --runs N` tries more, and other seeds. */
const RUNS = extent(20, 2_000);

it('ends every task, buys nothing twice and gives slots back, whatever is interleaved', async () => {
  expect(await checkModel({ runs: RUNS, seed: 20_261_122 })).toBe(RUNS);
});
