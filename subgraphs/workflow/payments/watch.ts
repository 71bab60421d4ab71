import { notFound } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { Payment } from '../domain/payment.ts';
import { paymentTopic } from './reconcile.ts';
import type { PaymentStore } from './store.ts';

/** Wake-ups may be lost; after this many milliseconds a waiting subscriber looks by itself. */
const LOOK_AGAIN_MS = 2_000;

/** The payment now, then at each change. It ends with a refund of everything, or with the subscriber. */
export async function* watchPayment(
  { store, bus }: { readonly store: PaymentStore; readonly bus: EventBus },
  { id, signal }: { readonly id: string; readonly signal: AbortSignal },
): AsyncGenerator<Payment> {
  let wake: () => void = () => undefined;
  let rung = false;
  const ring = (): void => {
    rung = true;
    wake();
  };
  const removals = [bus.listen(paymentTopic, (key) => void (key === id && ring())), bus.onGap(ring)];
  signal.addEventListener('abort', ring, { once: true });
  try {
    let seen = 0;
    while (!signal.aborted) {
      rung = false;
      const [payment] = await store.byIds([id]);
      if (payment === undefined) throw notFound('payment', id);
      if (payment.version > seen) {
        seen = payment.version;
        yield payment;
        if (payment.status === 'REFUNDED') return;
      }
      if (!rung && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = setTimeout(resolve, LOOK_AGAIN_MS);
        await promise;
        clearTimeout(timer);
      }
    }
  } finally {
    for (const remove of removals) remove();
    signal.removeEventListener('abort', ring);
  }
}
