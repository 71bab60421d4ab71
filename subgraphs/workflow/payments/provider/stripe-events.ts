import type { Stripe } from 'stripe';

import type { PayEvent } from './pay-provider.ts';

/** Reads Stripe's events. Only the ids in a body are trusted. */

const SESSION = /^checkout\.session\./;
const MONEY = /^(charge\.(refunded|refund\.updated|dispute\.)|refund\.)/;

/** Maps an event; one that is irrelevant here refers to nothing. */
export function toPayEvent(event: Stripe.Event): PayEvent {
  return {
    id: event.id,
    type: event.type,
    createdAt: new Date(event.created * 1000),
    isLive: event.livemode,
    refersTo: findReference(event),
  };
}

function findReference({ type, data }: Stripe.Event): PayEvent['refersTo'] {
  const object = data.object as unknown as Readonly<Record<string, unknown>>;
  if (SESSION.test(type)) {
    const sessionId = toText(object['id']);
    const paymentId = toText(object['client_reference_id']) ?? readMetadata(object);
    return sessionId === null ? { kind: 'nothing' } : { kind: 'session', sessionId, paymentId };
  }
  if (!MONEY.test(type)) return { kind: 'nothing' };
  const intent = object['payment_intent'];
  const paymentIntentId = toText(intent) ?? toText((intent as { readonly id?: unknown } | null)?.id);
  return paymentIntentId === null
    ? { kind: 'nothing' }
    : { kind: 'intent', paymentIntentId, paymentId: readMetadata(object) };
}

function readMetadata({ metadata }: Readonly<Record<string, unknown>>): string | null {
  return toText((metadata as { readonly payment_id?: unknown } | null | undefined)?.payment_id);
}

function toText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
