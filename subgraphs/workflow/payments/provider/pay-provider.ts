import { AppError } from '../../../../platform/errors.ts';
import type { CheckoutState, RefundReason } from '../../domain/payment.ts';

/**
 * The payment provider contract. One adapter (stripe.ts) serves the real service and its stand-in, which differ by address.
 * No call is made inside a transaction. Every call has a timeout; calls that write carry our idempotency key, so they can
 * be repeated. Throws PayProviderError.
 */
export interface PayProvider {
  /** `development` at the stand-in, else test or live, by the key. */
  readonly environment: 'development' | 'test' | 'live';
  /** The account and mode that ids belong to; ids of another account are invalid. */
  account(): Promise<ProviderAccount>;
  /** Opens a checkout. Idempotent per payment. */
  createCheckout(request: NewCheckout): Promise<{ readonly sessionId: string; readonly url: string }>;
  /** The current state of a session. NOT_FOUND. */
  readCheckoutState(sessionId: string): Promise<CheckoutState>;
  /** Expires an open session, so that it can no longer be paid; answers its state. */
  expireCheckout(sessionId: string): Promise<CheckoutState>;
  /** The session of a payment intent; null for one that is not ours. */
  sessionOfIntent(paymentIntentId: string): Promise<string | null>;
  /** Refunds a payment. Idempotent by `refundId` as long as the provider remembers it, which may be a day. */
  refund(request: NewRefund): Promise<MadeRefund>;
  /** The refund that was made under this `refundId`, however long ago; null when there is none. */
  findRefund(request: Pick<NewRefund, 'refundId' | 'paymentIntentId'>): Promise<MadeRefund | null>;
  /** Every refund of a payment intent, those of the provider's own pages too, in any order. */
  listRefunds(paymentIntentId: string): Promise<readonly ListedRefund[]>;
  /** Verifies and reads a webhook body. Throws NOT_AUTHENTIC for a wrong or old signature. */
  readEvent(body: Buffer, signature: string): Promise<PayEvent>;
  /** Events since then that could not be delivered, newest first; read page by page. */
  undelivered(since: Date): AsyncIterable<PayEvent>;
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
  /** Filled in on the page; null leaves it to the buyer. */
  readonly email?: string | null;
  /** Absent: none of it. */
  readonly switches?: Partial<CheckoutSwitches>;
  readonly expiresAt: Date;
}

/** What a checkout offers beyond paying. */
export interface CheckoutSwitches {
  /** A receipt with a paid invoice goes to the buyer by e-mail. */
  readonly receipts: boolean;
  /** Taxes are computed and added by the provider. */
  readonly tax: boolean;
  /** Buyers may enter a promotion code. */
  readonly promotionCodes: boolean;
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

/** A refund at the provider. */
export interface MadeRefund {
  readonly id: string;
  /** Minor units. */
  readonly amount: number;
  readonly status: string;
}

/** A refund as the provider lists it. */
export interface ListedRefund extends MadeRefund {
  /** Ours; null for one that was made on the provider's own pages. */
  readonly refundId: string | null;
  /** Null where none was given there. */
  readonly reason: RefundReason | null;
  readonly createdAt: Date;
}

/** An event, and the object that it refers to. */
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

/** Products and prices. The amount of a price can't change: a new price takes over its lookup key. */
export interface CatalogProvider {
  /** The product and active price of a lookup key. */
  find(lookupKey: string): Promise<CatalogEntry | null>;
  /** By stored ids; null when they are of another account, or archived. */
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

/** The product of a template. */
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

/** A failed call to the payment provider. */
export class PayProviderError extends Error {
  readonly code:
    | 'NOT_FOUND'
    /** The key is wrong or lacks a permission. */
    | 'KEY_REFUSED'
    /** The provider rejects the request; the message is for the operator. */
    | 'REFUSED'
    /** The signature is wrong or too old. */
    | 'NOT_AUTHENTIC'
    | 'RATE_LIMITED'
    | 'UNAVAILABLE';

  constructor(code: PayProviderError['code'], message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = 'PayProviderError';
    this.code = code;
  }
}

/** Maps the payment provider's errors to those of callers; other errors stay. */
function toCallerError(error: unknown): unknown {
  if (!(error instanceof PayProviderError)) return error;
  switch (error.code) {
    case 'RATE_LIMITED':
    case 'UNAVAILABLE':
      return new AppError('UNAVAILABLE', `${error.message}: try again`, { retryAfter: 5, cause: error });
    case 'NOT_AUTHENTIC':
      return new AppError('UNAUTHENTICATED', error.message, { cause: error });
    case 'KEY_REFUSED':
      return new AppError('NOT_CONFIGURED', 'payments are not available here now', { cause: error });
    case 'NOT_FOUND':
      return new AppError('NOT_FOUND', error.message, { cause: error });
    default:
      return new AppError('BAD_USER_INPUT', error.message, { cause: error });
  }
}

/** Runs a call to the provider and maps its errors to those of callers. */
export async function withCallerErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw toCallerError(error);
  }
}

/** The error where no payment provider is set up. */
export function notConfigured(): AppError {
  return new AppError('NOT_CONFIGURED', 'payments are not available here');
}
