import { newTraceId } from '../../../platform/ids.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type { Queue, QueueWorker } from '../../../platform/queue/queue.ts';
import type { WorkflowTransaction } from '../database/database.ts';
import type { PaymentStatus } from '../domain/payment.ts';
import type { MediaClient, PublishedEvent } from '../executions/media-client.ts';
import type { StoredPayment } from './store.ts';

/**
 * Events of payments for the operator's webhook endpoints. Each is a job that is written with the payment's change; the job gives
 * it to the media subgraph, which knows the endpoints and takes the same id once. So each change is told once, whatever dies.
 */

/** Queue of the jobs: the events themselves. */
const eventQueue = 'workflow.payment-event';

/** Writes the events of a change into its transaction. */
export type PaymentOutbox = (
  transaction: WorkflowTransaction,
  before: StoredPayment,
  after: StoredPayment,
) => Promise<void>;

const TYPES: Readonly<Record<PaymentStatus, string | null>> = {
  PENDING: null,
  COMPLETED: 'payment.succeeded',
  FAILED: 'payment.failed',
  CANCELLED: 'payment.cancelled',
  // Recognized by the amount, as a refund of a part is.
  REFUNDED: null,
};

/** Makes the outbox; its queue is defined when it is worked. */
export function createPaymentOutbox(queue: Queue): PaymentOutbox {
  return async (transaction, before, after) => {
    const jobs = listEventTypes(before, after).map((type) => ({
      queue: eventQueue,
      data: {
        id: `${after.id}:${after.version}:${type}`,
        type,
        at: after.updatedAt.toISOString(),
        data: toEventData(after),
      } satisfies PublishedEvent,
    }));
    if (jobs.length > 0) await queue.enqueue(transaction, ...jobs);
  };
}

/** What a change of a payment means to others. Pure. */
function listEventTypes(before: StoredPayment, after: StoredPayment): readonly string[] {
  const reached = before.status === after.status ? null : TYPES[after.status];
  const types = [
    reached,
    after.amountRefunded > before.amountRefunded ? 'payment.refunded' : null,
    after.disputed && !before.disputed ? 'payment.disputed' : null,
  ];
  return types.filter((type) => type !== null);
}

function toEventData(payment: StoredPayment): JsonObject {
  const { id, owner, status, templateCode, amount, amountRefunded, currency, executionId, disputed } =
    payment;
  return { id, owner, status, templateCode, amount, amountRefunded, currency, executionId, disputed };
}

/**
 * Retries of an event, five minutes apart in the end: a week. An event is in no table but the queue's, so that no sweep can find
 * one that was given up.
 */
const RETRIES = 2_016;

/** Defines the queue and gives its events to the media subgraph; they are retried for a week while it is away. */
export async function workPaymentEvents({
  queue,
  media,
}: {
  readonly queue: Queue;
  readonly media: Pick<MediaClient, 'publishEvent'>;
}): Promise<QueueWorker> {
  await queue.define(eventQueue, { retryLimit: RETRIES, retryDelaySeconds: 1, retryDelayMaxSeconds: 300 });
  return queue.work(eventQueue, { slots: 2 }, async ({ data }) => {
    await media.publishEvent(data as unknown as PublishedEvent, newTraceId());
  });
}
