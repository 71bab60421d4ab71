import { expect, it } from 'vitest';

import { extent } from '../../test/kit/extent.ts';
import { attack, listSuccesses } from './run.ts';

/** The quick half of `npm run attack`, for `npm run test:all`: the modes that strangers meet, without floods of connections. */

const inProduction = () => attack('production', true);
const none = async () => [];

it(`nothing gets through in ${extent('compat', 'compat, and in production where a credential is required')}`, async () => {
  const outcomes = [...(await attack('compat', true)), ...(await extent(none, inProduction)())];
  expect(outcomes.flatMap(({ attempts }) => attempts).length).toBeGreaterThan(extent(400, 800));
  expect(listSuccesses(outcomes)).toEqual([]);
});
