import type { CheckoutState, RefundReason } from '../../domain/payment.ts';

/**
 * THE payment provider contract: one adapter (stripe.ts) against the real service or its stand-in, by address alone. No
 * call is made inside a transaction. Every call has a timeout; calls that write carry an idempotency key of ours, so a
 * repeated one changes nothing. Throws PayProviderError.
 */
export interface PayProvider {
  /** `development` at the stand-in, else test or live, by the key. */
  readonly environment: 'development' | 'test' | 'live';
  /** The account and mode that ids belong to: `<account id>/<test|live>`; ids of another are worth nothing. */
  account(): Promise<ProviderAccount>;
  /** Opens a checkout, or answers the same one again for the same payment. */
  createCheckout(request: NewCheckout): Promise<{ readonly sessionId: string; readonly url: string }>;
  /** What is true of a session now. NOT_FOUND. */
  checkoutStateOf(sessionId: string): Promise<CheckoutState>;
  /** Ends an open session, so that it can't be paid any more, and answers what is true then. */
  expireCheckout(sessionId: string): Promise<CheckoutState>;
  /** The session behind a payment intent; null for a foreign one. */
  sessionOfIntent(paymentIntentId: string): Promise<string | null>;
  refund(
    request: NewRefund,
  ): Promise<{ readonly id: string; readonly amount: number; readonly status: string }>;
  /** The event of a webhook body. Throws NOT_AUTHENTIC for a body that none of the secrets signed, or an old one. */
  readEvent(body: Buffer, signature: string): PayEvent;
  /** Events since then that were not delivered: after we were away. */
  undelivered(since: Date): Promise<readonly PayEvent[]>;
  readonly catalog: CatalogProvider;
}

interface ProviderAccount {
  readonly id: string;
  readonly chargesEnabled: boolean;
  /** ISO 3166. */
  readonly country: string | null;
  readonly isLive: boolean;
}

interface NewCheckout {
  readonly paymentId: string;
  readonly priceId: string;
  readonly templateCode: string;
  readonly userId: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly expiresAt: Date;
}

interface NewRefund {
  /** Ours: the idempotency key. */
  readonly refundId: string;
  readonly paymentId: string;
  readonly paymentIntentId: string;
  /** Minor units. */
  readonly amount: number;
  readonly reason: RefundReason;
}

/** An event says where to look, never what is true. */
export interface PayEvent {
  readonly id: string;
  readonly type: string;
  readonly createdAt: Date;
  readonly isLive: boolean;
  readonly refersTo:
    | { readonly kind: 'session'; readonly sessionId: string; readonly paymentId: string | null }
    | { readonly kind: 'intent'; readonly paymentIntentId: string; readonly paymentId: string | null }
    | { readonly kind: 'nothing' };
}

/** Products and prices. Amounts of a price never change: another price takes its lookup key over. */
export interface CatalogProvider {
  /** The product and active price of a lookup key. */
  find(lookupKey: string): Promise<CatalogEntry | null>;
  /** By ids that were kept; null when they are of another account, or archived. */
  read(productId: string, priceId: string): Promise<CatalogEntry | null>;
  createProduct(product: CatalogProduct & { readonly idempotencyKey: string }): Promise<string>;
  updateProduct(id: string, product: CatalogProduct & { readonly defaultPriceId?: string }): Promise<void>;
  createPrice(price: NewPrice): Promise<string>;
  archivePrice(id: string): Promise<void>;
}

/** A product with its price, as the provider has them. */
export interface CatalogEntry {
  readonly productId: string;
  readonly priceId: string;
  readonly name: string;
  readonly isActive: boolean;
  readonly amount: number;
  readonly currency: string;
}

/** A template as the provider shall show it. */
export interface CatalogProduct {
  readonly templateCode: string;
  readonly name: string;
  readonly description: string | null;
  readonly isActive: boolean;
}

interface NewPrice {
  readonly productId: string;
  readonly amount: number;
  readonly currency: string;
  readonly lookupKey: string;
  readonly idempotencyKey: string;
}

/** Why the provider did not do it. */
export class PayProviderError extends Error {
  readonly code:
    | 'NOT_FOUND'
    /** A wrong key, or one that may not do this. */
    | 'KEY_REFUSED'
    /** The request is not one the provider takes; the message is for the operator. */
    | 'REFUSED'
    /** A signature that is none of ours. */
    | 'NOT_AUTHENTIC'
    | 'RATE_LIMITED'
    | 'UNAVAILABLE';

  constructor(code: PayProviderError['code'], message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = 'PayProviderError';
    this.code = code;
  }
}
