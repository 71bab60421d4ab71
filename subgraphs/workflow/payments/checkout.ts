import { randomUUID } from 'node:crypto';

import type { Caller } from '../../../platform/access/caller.ts';
import {
  computeFingerprint,
  idempotencyConflict,
  toIdempotencyRecord,
} from '../../../platform/access/idempotency.ts';
import { isUniqueViolation } from '../../../platform/database/database.ts';
import type { Json } from '../../../platform/json.ts';
import { createTraceparent } from '../../../platform/tracing/span.ts';
import { findBeneficiary } from '../domain/execution.ts';
import type { Template, TemplateService, WorkflowNames } from '../domain/template.ts';
import { activeTemplate, checkedStart } from '../executions/checked-start.ts';
import type { MediaClient } from '../executions/media-client.ts';
import { withCallerErrors, type CheckoutSwitches, type PayProvider } from './provider/pay-provider.ts';
import type { PaymentStore, StoredPayment } from './store.ts';

/** Looks up the price of a template at the provider; creates it when it is missing. */
export interface Prices {
  ensurePrice(template: Template): Promise<Price>;
}

/** A price, with the provider's id. */
export interface Price {
  readonly priceId: string;
  /** Minor units. */
  readonly amount: number;
  readonly currency: string;
}

/** The dependencies of a checkout. */
export interface CheckoutDependencies {
  readonly store: PaymentStore;
  readonly templates: TemplateService;
  readonly prices: Prices;
  /** Validates the execution before it is bought. */
  readonly media: Pick<MediaClient, 'checkStart'>;
  readonly workflowNames: WorkflowNames;
  readonly provider: PayProvider;
  readonly switches: CheckoutSwitches;
  /** PUBLIC_URL: the provider redirects browsers there. */
  readonly publicUrl: string;
  /** Throws BAD_USER_INPUT, naming the field, for an address that browsers may not be sent to. */
  readonly checkReturnUrl: (field: string, address: string) => string;
  /** The e-mail address of a user who has signed in; null when none is known. */
  readonly findEmail: (userId: string) => Promise<string | null>;
}

/** A request to buy an execution. */
export interface CheckoutRequest {
  readonly templateCode: string;
  readonly userId: string;
  readonly parameters: Json;
  /** The shop's own page for who has paid; may contain {CHECKOUT_SESSION_ID}. */
  readonly successUrl?: string | undefined;
  /** The shop's own page for who has not. */
  readonly cancelUrl?: string | undefined;
  readonly idempotencyKey: string | null;
}

/** A payment, and the provider's page where it is paid. */
export interface OpenedCheckout {
  readonly payment: StoredPayment;
  readonly sessionId: string;
  readonly url: string;
}

/** How long a checkout is open. In whole seconds, because it is part of the idempotent call. */
const OPEN_MS = 3_600_000;

/**
 * Opens a checkout. The execution is validated first, so that nobody pays for what can't run; then come the row, the call
 * to the provider, and its ids. A crash in between is repaired by a retry with the same key, or by the sweeper.
 */
export async function checkout(
  dependencies: CheckoutDependencies,
  caller: Caller,
  request: CheckoutRequest,
): Promise<OpenedCheckout> {
  const { idempotencyKey, ...fields } = request;
  const requested = { operation: 'checkout', ...fields };
  const fingerprint = computeFingerprint(requested);
  const key = toIdempotencyRecord(caller, idempotencyKey, requested, request.userId)?.key ?? null;
  const known = key === null ? null : await dependencies.store.byKey(caller.id, key);
  const payment =
    known === null ? await newPayment(dependencies, caller, { request, fingerprint, key }) : known;
  if (payment.fingerprint !== fingerprint) throw idempotencyConflict();
  return openAtProvider(dependencies, payment);
}

async function newPayment(
  dependencies: CheckoutDependencies,
  caller: Caller,
  input: { readonly request: CheckoutRequest; readonly fingerprint: string; readonly key: string | null },
): Promise<StoredPayment> {
  const { store, templates, prices, media, workflowNames } = dependencies;
  const { request, fingerprint, key } = input;
  const pages = buildReturnPages(dependencies, request);
  const template = await activeTemplate(templates, request.templateCode, 'templateCode');
  const { userId, taskOwner } = findBeneficiary(caller, request.userId);
  const { parameters, start } = await checkedStart({ media, workflowNames }, caller, {
    template,
    parameters: request.parameters,
    // Nobody pays for an input that can't be had.
    fetchInputs: true,
    owner: taskOwner,
    sold: true,
  });
  const { priceId, amount, currency } = await withCallerErrors(() => prices.ensurePrice(template));
  const row = {
    // Time-ordered, so that lists can sort by it, and unguessable.
    id: `pay_${timeOrderedId()}`,
    owner: caller.id,
    userId: userId ?? request.userId,
    templateCode: template.code,
    parameters: JSON.stringify(parameters),
    start: JSON.stringify(start),
    taskOwner,
    amount,
    currency,
    priceId,
    expiresAt: new Date(Math.floor((Date.now() + OPEN_MS) / 1000) * 1000),
    ...pages,
    ...dependencies.switches,
    buyerEmail: await emailFor(dependencies, caller, userId),
    idempotencyKey: key,
    fingerprint,
    traceparent: createTraceparent(caller.traceId),
  };
  try {
    return await store.insert(row);
  } catch (error) {
    const winner = key !== null && isUniqueViolation(error) ? await store.byKey(caller.id, key) : null;
    if (winner === null) throw error;
    return winner;
  }
}

function buildReturnPages(
  { checkReturnUrl }: CheckoutDependencies,
  { successUrl, cancelUrl }: Pick<CheckoutRequest, 'successUrl' | 'cancelUrl'>,
) {
  return {
    successUrl: successUrl === undefined ? null : checkReturnUrl('successUrl', successUrl),
    cancelUrl: cancelUrl === undefined ? null : checkReturnUrl('cancelUrl', cancelUrl),
  };
}

/** Nobody without a credential gets to write somebody's address on a page. */
async function emailFor({ findEmail }: CheckoutDependencies, { kind }: Caller, userId: string | null) {
  if (userId === null || kind === 'anonymous') return null;
  const email = await findEmail(userId);
  // What a provider of sign-in calls an e-mail need not be one, and the payment provider refuses anything else.
  return email !== null && /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(email) ? email : null;
}

async function openAtProvider(
  { store, provider, publicUrl }: CheckoutDependencies,
  payment: StoredPayment,
): Promise<OpenedCheckout> {
  const { id, ppSessionId, ppUrl } = payment;
  if (ppSessionId !== null && ppUrl !== null) return { payment, sessionId: ppSessionId, url: ppUrl };
  const query = `payment_id=${encodeURIComponent(id)}`;
  const { sessionId, url } = await withCallerErrors(() =>
    provider.createCheckout({
      paymentId: id,
      priceId: payment.priceId,
      templateCode: payment.templateCode,
      userId: payment.userId,
      // A placeholder of the provider; it must not be encoded.
      successUrl:
        payment.successUrl ?? `${publicUrl}/payment/success?session_id={CHECKOUT_SESSION_ID}&${query}`,
      cancelUrl: payment.cancelUrl ?? `${publicUrl}/payment/cancel?${query}`,
      email: payment.buyerEmail,
      switches: payment,
      expiresAt: payment.expiresAt,
    }),
  );
  const opened = await store.setSession(id, { sessionId, url });
  return { payment: opened, sessionId: opened.ppSessionId ?? sessionId, url: opened.ppUrl ?? url };
}

/** Milliseconds, then random characters: ids sort by age. */
function timeOrderedId(): string {
  return `${Date.now().toString(36).padStart(9, '0')}${randomUUID().replaceAll('-', '')}`;
}
