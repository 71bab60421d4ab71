import type { Report } from './settings/setting.ts';
import type { Values } from './settings/settings.ts';

/** Checks that a real key has a webhook secret, and that a live key is allowed by PP_LIVE. */
export function checkPayments(values: Values, report: Report, production: boolean): void {
  const {
    STRIPE_SECRET_KEY: key,
    STRIPE_WEBHOOK_SECRETS: secrets,
    PP_LIVE: isLive,
    SANDBOX_AUTO_PAY: autoPay,
  } = values;
  if (key === null && secrets.length > 0) {
    report('STRIPE_SECRET_KEY', 'is needed with STRIPE_WEBHOOK_SECRETS: the key of that account');
  }
  if (key !== null && secrets.length === 0) {
    report(
      'STRIPE_WEBHOOK_SECRETS',
      'is needed with STRIPE_SECRET_KEY: the secret of the webhook to PUBLIC_URL/payment/webhook',
    );
  }
  if (key !== null && isLiveKey(key) && !isLive) {
    report('PP_LIVE', 'must be true with a live STRIPE_SECRET_KEY: it takes real money');
  }
  if (autoPay === true && (key !== null || production)) {
    report('SANDBOX_AUTO_PAY', 'is for the sandbox alone: unset it in production and with STRIPE_SECRET_KEY');
  }
}

function isLiveKey(key: string): boolean {
  return /^(sk|rk)_live_/.test(key);
}

/** How executions are paid for: the configuration of checked settings. */
export function readPaymentSettings(values: Values, production: boolean) {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRETS: webhookSecrets } = values;
  return {
    /** Null: the sandbox's Stripe in development, no payments in production. */
    stripe: secretKey === null ? null : { secretKey, webhookSecrets },
    /** Lower case. */
    currency: values.PP_CURRENCY,
    /** Price of one credit in minor units. */
    creditUnitAmount: values.PP_CREDIT_UNIT_AMOUNT,
    /** What a checkout offers beyond paying. */
    switches: {
      receipts: values.PP_RECEIPTS,
      tax: values.PP_TAX,
      promotionCodes: values.PP_PROMOTION_CODES,
    },
    /** Whether a success call pays the sandbox's checkout first; never with a real key. */
    autoPay: secretKey === null && !production && (values.SANDBOX_AUTO_PAY ?? true),
    /** Whether a payment is refunded when its execution fails for a technical reason. */
    autoRefund: values.PP_AUTO_REFUND,
  };
}
