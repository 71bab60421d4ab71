import type { Queue } from '../../../platform/queue/queue.ts';
import type { DeliveryRow } from '../database/database.ts';
import type { TransactionScope, Transactor } from '../tasks/storage/transactor.ts';
import { beginRound, readDelivery, type WebhookJob } from './delivery-store.ts';

/** The queue of deliveries. */

/** Queue of deliveries to callback addresses and endpoints. */
export const WEBHOOK_QUEUE = 'media.webhook-out';

/** Declares the queue. Its own retries are for a failing database only: pauses between attempts are the worker's. */
export async function defineWebhookQueue(queue: Queue): Promise<void> {
  await queue.define(WEBHOOK_QUEUE, { retryLimit: 50, retryDelaySeconds: 1, retryDelayMaxSeconds: 60 });
}

/** Enqueues the attempts of one round, now. */
export async function enqueueRound(scope: TransactionScope, job: WebhookJob): Promise<void> {
  await scope.enqueue({ queue: WEBHOOK_QUEUE, data: job });
}

/** Begins a new round. Under the row's lock, one of several concurrent requests begins the round; the others find it begun. */
export async function beginNewRound(transactor: Transactor, id: string): Promise<DeliveryRow | null> {
  return transactor.run(async (scope) => {
    const begun = await beginRound(scope.transaction, id);
    if (begun !== null) await enqueueRound(scope, { deliveryId: begun.id, round: begun.round });
    return begun ?? (await readDelivery(scope.transaction, id));
  });
}
