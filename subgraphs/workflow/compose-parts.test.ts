import { expect, it } from 'vitest';

import { composeCommerce } from './compose-parts.ts';

/** Who takes the money, by the settings. */

const settings = {
  currency: 'usd',
  creditUnitAmount: 100,
  switches: { receipts: false, tax: false, promotionCodes: false },
  autoPay: true,
  autoRefund: false,
};
const sandbox = {
  url: 'http://127.0.0.1:1',
  secretKey: 'sk_test_sandbox',
  webhookSecret: 'whsec_sandbox',
  pay: () => Promise.resolve(),
};

it('pays by itself at the stand-in alone, never at the Stripe of the settings', () => {
  const stripe = { secretKey: 'sk_live_shop', webhookSecrets: ['whsec_shop'] };
  const real = composeCommerce({ payments: { ...settings, stripe } }, sandbox);
  expect(real).toMatchObject({ provider: { environment: 'live' }, autoPay: null });
  const played = composeCommerce({ payments: { ...settings, stripe: null } }, sandbox);
  expect(played).toMatchObject({ provider: { environment: 'development' }, autoPay: sandbox.pay });
  const shown = composeCommerce({ payments: { ...settings, stripe: null, autoPay: false } }, sandbox);
  expect(shown.autoPay).toBeNull();
  expect(composeCommerce({ payments: { ...settings, stripe: null } }, null)).toMatchObject({
    provider: null,
    autoPay: null,
  });
});
