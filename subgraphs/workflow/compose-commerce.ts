import type { Config } from '../../platform/config/config.ts';
import type { CommerceOptions } from './commerce.ts';
import { createStripe } from './payments/provider/stripe.ts';

/** The sandbox's stand-in for Stripe, as this process reaches it. */
export interface SandboxStripe {
  readonly url: string;
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** Pays a checkout if it is open. */
  readonly pay: (sessionId: string) => Promise<void>;
}

/** The payment provider of the settings: Stripe, else the sandbox's stand-in, else none. Both use the same adapter. */
export function composeCommerce(
  { payments }: Pick<Config, 'payments'>,
  sandbox: SandboxStripe | null,
): CommerceOptions {
  const { stripe, autoPay, ...prices } = payments;
  if (stripe !== null)
    return { ...prices, provider: createStripe({ ...stripe, baseUrl: null }), autoPay: null };
  if (sandbox === null) return { ...prices, provider: null, autoPay: null };
  const { url, secretKey, webhookSecret, pay } = sandbox;
  const provider = createStripe({ secretKey, webhookSecrets: [webhookSecret], baseUrl: url });
  return { ...prices, provider, autoPay: autoPay ? pay : null };
}
