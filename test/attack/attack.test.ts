import { expect, it } from 'vitest';

import { attack, successesOf } from './run.ts';

/** The quick half of `npm run attack`: the modes that strangers meet, without floods of connections and processes of their own. */

it('nothing gets through in compat, and in production where a credential is required', async () => {
  const outcomes = [...(await attack('compat', true)), ...(await attack('production', true))];
  expect(outcomes.flatMap(({ attempts }) => attempts).length).toBeGreaterThan(800);
  expect(successesOf(outcomes)).toEqual([]);
}, 240_000);
