import { afterEach, expect, it, vi } from 'vitest';

import { createSignatureCheck } from './signed-webhook.ts';

/** For how long the keys of a vendor's webhooks serve. */

afterEach(() => void vi.restoreAllMocks());

/** The cache reads this clock, anew in each millisecond. */
function passMinute(): void {
  const later = performance.now() + 61_000;
  vi.spyOn(performance, 'now').mockImplementation(() => later);
}

function openAccount() {
  const account = { key: 'old', fetches: 0, isAway: false };
  const check = createSignatureCheck<{ readonly key: string }>();
  const fetch = async () => {
    account.fetches += 1;
    if (account.isAway) throw new Error('away');
    return { key: account.key };
  };
  const ask = (signer: string) =>
    check({ account: 'a', fetch, matches: ({ key }) => key === signer }).catch(String);
  return { account, ask };
}

it('a webhook signed by a rotated key is taken once its key may be asked for again', async () => {
  const { account, ask } = openAccount();
  expect(await ask('old')).toBe(true);
  account.key = 'new';
  expect([await ask('new'), account.fetches]).toEqual([false, 1]);
  passMinute();
  await expect.poll(() => ask('new')).toBe(true);
  expect([await ask('old'), account.fetches]).toEqual([false, 2]);
});

it('a forged webhook does not take the keys away while the vendor is', async () => {
  const { account, ask } = openAccount();
  expect(await ask('old')).toBe(true);
  account.isAway = true;
  passMinute();
  await expect.poll(() => ask('forged')).toBe('Error: away');
  expect(await ask('old')).toBe(true);
});
