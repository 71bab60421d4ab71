import { expect, it } from 'vitest';

import { attack, successesOf } from './run.ts';

/** The quick half of `npm run attack`: the modes that strangers meet, without floods and processes of their own. */

it('nothing gets through in compat and required', async () => {
  const outcomes = (await Promise.all([attack('compat', true), attack('required', true)])).flat();
  expect(outcomes.flatMap(({ attempts }) => attempts).length).toBeGreaterThan(200);
  expect(successesOf(outcomes)).toEqual([]);
});
