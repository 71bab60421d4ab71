import type { StripeContext } from './catalog.ts';
import { DEFAULT_CHARGE, DEFAULT_DISPUTE, DEFAULT_INTENT, DEFAULT_REFUND } from './defaults.ts';
import { invalid, StripeFailure } from './failure.ts';
import { integerIn, metadataIn, textIn, type Form } from './form.ts';
import { newId, nowSeconds, type StripeObject } from './state.ts';

/** Payments, refunds and disputes. */

/** The payment methods of the hosted page. */
export type PayMethod = 'card' | 'decline' | 'delayed';

/** Pays a session. A declined card leaves it open. Throws when it is not open. */
export function pay(world: StripeContext, sessionId: string, method: PayMethod): StripeObject {
  const { state, events } = world;
  const session = state.get('checkout.session', sessionId);
  if (session['status'] !== 'open') throw invalid('This Checkout Session is not open.');
  const intent = Number(session['amount_total']) === 0 ? null : ensureIntent(world, session);
  if (intent !== null) session['payment_intent'] = intent.id;
  if (method === 'decline' && intent !== null) {
    intent['last_payment_error'] = {
      type: 'card_error',
      code: 'card_declined',
      decline_code: 'generic_decline',
      message: 'Your card was declined.',
    };
    events.emit('payment_intent.payment_failed', intent);
    return session;
  }
  session['status'] = 'complete';
  session['url'] = null;
  session['customer_details'] = {
    address: null,
    business_name: null,
    email: session['customer_email'] ?? 'buyer@sandbox.example',
    individual_name: null,
    name: 'Sandbox Buyer',
    phone: null,
    tax_exempt: 'none',
    tax_ids: [],
  };
  if (method === 'delayed' && intent !== null) intent['status'] = 'processing';
  else {
    if (intent !== null) charge(world, intent);
    session['payment_status'] = intent === null ? 'no_payment_required' : 'paid';
  }
  events.emit('checkout.session.completed', session);
  return session;
}

function ensureIntent({ state }: StripeContext, session: StripeObject): StripeObject {
  const known = session['payment_intent'];
  if (typeof known === 'string') return state.get('payment_intent', known);
  const id = newId('pi_');
  return state.add('payment_intent', {
    ...structuredClone(DEFAULT_INTENT),
    id,
    object: 'payment_intent',
    amount: session['amount_total'],
    client_secret: `${id}_secret_${newId('', 25)}`,
    created: nowSeconds(),
    currency: session['currency'],
    metadata: session['_intentMetadata'],
    status: 'requires_payment_method',
  });
}

function charge({ state, events }: StripeContext, intent: StripeObject): void {
  const made = state.add('charge', {
    ...structuredClone(DEFAULT_CHARGE),
    id: newId('ch_'),
    object: 'charge',
    amount: intent['amount'],
    amount_captured: intent['amount'],
    captured: true,
    created: nowSeconds(),
    currency: intent['currency'],
    metadata: intent['metadata'],
    paid: true,
    payment_intent: intent.id,
    status: 'succeeded',
  });
  Object.assign(intent, { status: 'succeeded', amount_received: intent['amount'], latest_charge: made.id });
  events.emit('charge.succeeded', made);
  events.emit('payment_intent.succeeded', intent);
}

/** Completes a delayed payment. */
export function settle(world: StripeContext, sessionId: string, isGood: boolean): StripeObject {
  const { state, events } = world;
  const session = state.get('checkout.session', sessionId);
  const intent = state.get('payment_intent', String(session['payment_intent']));
  if (isGood) {
    charge(world, intent);
    session['payment_status'] = 'paid';
    events.emit('checkout.session.async_payment_succeeded', session);
  } else {
    intent['status'] = 'requires_payment_method';
    events.emit('checkout.session.async_payment_failed', session);
  }
  return session;
}

const REASONS = ['duplicate', 'fraudulent', 'requested_by_customer'];

/** POST /v1/refunds. */
export function createRefund({ state, events }: StripeContext, form: Form): StripeObject {
  const paid = findCharge({ state, events }, form);
  const reason = textIn(form, 'reason') ?? null;
  if (reason !== null && !REASONS.includes(reason)) {
    throw invalid('Invalid reason: must be one of duplicate, fraudulent, or requested_by_customer', 'reason');
  }
  if (paid['refunded'] === true) {
    throw invalid(`Charge ${paid.id} has already been refunded.`, undefined, 'charge_already_refunded');
  }
  if (paid['disputed'] === true) {
    throw invalid(
      `Charge ${paid.id} has been charged back; cannot issue a refund.`,
      undefined,
      'charge_disputed',
    );
  }
  const left = Number(paid['amount']) - Number(paid['amount_refunded']);
  const amount = integerIn(form, 'amount') ?? left;
  if (amount < 1) {
    throw invalid('This value must be greater than or equal to 1.', 'amount', 'parameter_invalid_integer');
  }
  if (amount > left) throw invalid('Refund amount is greater than unrefunded amount on charge', 'amount');
  const refund = state.add('refund', {
    ...DEFAULT_REFUND,
    id: newId('re_'),
    object: 'refund',
    amount,
    balance_transaction: newId('txn_'),
    charge: paid.id,
    created: nowSeconds(),
    currency: paid['currency'],
    destination_details: { card: { reference_status: 'pending', type: 'refund' }, type: 'card' },
    metadata: metadataIn(form),
    payment_intent: paid['payment_intent'],
    reason,
    status: 'succeeded',
  });
  paid['amount_refunded'] = Number(paid['amount_refunded']) + amount;
  paid['refunded'] = paid['amount_refunded'] === paid['amount'];
  events.emit('refund.created', refund);
  events.emit('charge.refunded', paid);
  return refund;
}

function findCharge({ state }: StripeContext, form: Form): StripeObject {
  const [intentId, chargeId] = [textIn(form, 'payment_intent'), textIn(form, 'charge')];
  if (chargeId !== undefined) return state.get('charge', chargeId, 'charge');
  if (intentId === undefined) {
    throw invalid(
      'One of the following params should be provided for this request: payment_intent or charge.',
    );
  }
  const latest = state.get('payment_intent', intentId, 'payment_intent')['latest_charge'];
  if (typeof latest === 'string') return state.get('charge', latest);
  throw invalid(`This PaymentIntent (${intentId}) does not have a successful charge to refund.`);
}

/** Fails a refund; the charge is no longer refunded. */
export function failRefund({ state, events }: StripeContext, id: string): StripeObject {
  const refund = state.get('refund', id);
  const paid = state.get('charge', String(refund['charge']));
  Object.assign(refund, { status: 'failed', failure_reason: 'expired_or_canceled_card' });
  paid['amount_refunded'] = Number(paid['amount_refunded']) - Number(refund['amount']);
  paid['refunded'] = false;
  events.emit('refund.failed', refund);
  return refund;
}

/** Opens or closes a dispute. */
export function dispute(
  { state, events }: StripeContext,
  sessionId: string,
  end: 'won' | 'lost' | null,
): StripeObject {
  const intentId = state.get('checkout.session', sessionId)['payment_intent'];
  if (typeof intentId !== 'string') throw invalid('This Checkout Session was not paid.');
  const paid = state.get('charge', String(state.get('payment_intent', intentId)['latest_charge']));
  const known = state.all('dispute').find((one) => one['charge'] === paid.id);
  const made =
    known ??
    state.add('dispute', {
      ...structuredClone(DEFAULT_DISPUTE),
      id: newId('du_'),
      object: 'dispute',
      amount: paid['amount'],
      charge: paid.id,
      created: nowSeconds(),
      currency: paid['currency'],
      payment_intent: intentId,
      reason: 'fraudulent',
      status: 'needs_response',
    });
  paid['disputed'] = true;
  if (end !== null) made['status'] = end;
  events.emit(end === null ? 'charge.dispute.created' : 'charge.dispute.closed', made);
  return made;
}

/** A failure injected by a test. */
export function outage(status: number): StripeFailure {
  return new StripeFailure(status, {
    type: 'api_error',
    message: 'An error occurred (asked for by a test).',
  });
}
