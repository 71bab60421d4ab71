import { notFound } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { Payment } from '../domain/payment.ts';
import { leavableStream, watchVersions } from '../subscriptions/watch-versions.ts';
import { paymentTopic } from './reconcile.ts';
import type { PaymentStore } from './store.ts';

interface PaymentWatch {
  readonly store: PaymentStore;
  readonly bus: EventBus;
  readonly id: string;
}

/** The payment now, then at each change. It ends with a full refund, or with the subscriber. */
export function watchPayment(watch: PaymentWatch, signal: AbortSignal): AsyncIterableIterator<Payment> {
  return leavableStream(signal, (ended) => watchChanges(watch, ended));
}

async function* watchChanges({ store, bus, id }: PaymentWatch, signal: AbortSignal): AsyncGenerator<Payment> {
  const read = async (): Promise<Payment> => {
    const [payment] = await store.byIds([id]);
    if (payment === undefined) throw notFound('payment', id);
    return payment;
  };
  for await (const payment of watchVersions({ bus, topic: paymentTopic, id, read, signal })) {
    yield payment;
    if (payment.status === 'REFUNDED') return;
  }
}
