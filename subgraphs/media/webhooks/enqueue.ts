import { sql } from 'kysely';

import { newId } from '../../../platform/ids.ts';
import type { Queue } from '../../../platform/queue/queue.ts';
import type { EndListener } from '../tasks/rules/end-listener.ts';
import type { TransactionScope } from '../tasks/storage/transactor.ts';
import { pruneDeliveries, type WebhookJob } from './delivery-store.ts';

/** Enqueues deliveries in the transaction that ends their task. */

/** Queue of deliveries to callback addresses. */
export const WEBHOOK_QUEUE = 'media.webhook-out';

/** Declares the queue. Its own retries are for a failing database only: pauses between attempts are the worker's. */
export async function defineWebhookQueue(queue: Queue): Promise<void> {
  await queue.define(WEBHOOK_QUEUE, { retryLimit: 50, retryDelaySeconds: 1, retryDelayMaxSeconds: 60 });
}

/** Delivers the ends of tasks that have a callback address. */
export function createWebhookEndListener(queue: Queue): EndListener {
  return {
    defineQueues: () => defineWebhookQueue(queue),
    async ended(scope, { id: taskId, callbackUrl: url }) {
      if (url !== null) await enqueueDelivery(scope, { taskId, url });
    },
    prune: pruneDeliveries,
  };
}

/** Stores the delivery of a task that ends now, and enqueues its first attempt. */
async function enqueueDelivery(
  scope: TransactionScope,
  { taskId, url }: { readonly taskId: string; readonly url: string },
): Promise<void> {
  const id = newId();
  await sql`/* webhooks.insert */
    insert into media.webhook_deliveries (id, task_id, url) values (${id}::uuid, ${taskId}::uuid, ${url})`.execute(
    scope.transaction,
  );
  await enqueueRound(scope, { deliveryId: id, round: 1 });
}

/** Enqueues the attempts of one round, now. */
export async function enqueueRound(scope: TransactionScope, job: WebhookJob): Promise<void> {
  await scope.enqueue({ queue: WEBHOOK_QUEUE, data: job });
}
