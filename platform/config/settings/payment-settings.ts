import { currency, integer, trueOrFalse } from './formats.ts';
import { setting } from './setting.ts';

/** Settings of what is sold and how it is paid for. */
export const paymentSettings = {
  PP_LIVE: setting(trueOrFalse, 'true allows a live key of Stripe, which charges real money', 'false'),
  PP_CURRENCY: setting(currency, 'currency of the prices', 'usd'),
  PP_CREDIT_UNIT_AMOUNT: setting(
    integer(1, 1_000_000),
    'price of one credit in minor units of the currency',
    '100',
  ),
  PP_RECEIPTS: setting(
    trueOrFalse,
    'true lets Stripe send a receipt with a paid invoice to every buyer',
    'false',
  ),
  PP_TAX: setting(
    trueOrFalse,
    'true lets Stripe compute taxes and add them; its account needs Stripe Tax',
    'false',
  ),
  PP_PROMOTION_CODES: setting(trueOrFalse, 'true lets buyers enter promotion codes at the checkout', 'false'),
  PP_AUTO_REFUND: setting(
    trueOrFalse,
    'true refunds a payment when its execution fails, also when moderation refused it',
    'true',
  ),
} as const;
