import { sql } from 'kysely';

import { newId } from '../../../platform/ids.ts';
import type { Queue } from '../../../platform/queue/queue.ts';
import type { EndListener } from '../tasks/rules/end-listener.ts';
import type { TransactionScope } from '../tasks/storage/transactor.ts';
import { pruneDeliveries } from './delivery-store.ts';
import type { EventPublisher } from './event-publisher.ts';
import { defineWebhookQueue, enqueueRound } from './rounds.ts';

/** Enqueues deliveries in the transaction that ends their task. */

/** Delivers the ends of tasks to their own callback addresses, and to the operator's endpoints. */
export function createWebhookEndListener(queue: Queue, publisher?: EventPublisher): EndListener {
  return {
    defineQueues: () => defineWebhookQueue(queue),
    async ended(scope, { id: taskId, kind, callbackUrl: url }, state) {
      if (url !== null) await enqueueDelivery(scope, { taskId, url });
      await publisher?.taskEnded(scope, taskId, `task.${state.toLowerCase()}`);
      if (kind === 'VIDEO' || kind === 'FRAME_VIDEO') {
        await publisher?.videoEnded(
          scope,
          taskId,
          state === 'SUCCEEDED' ? 'video.completed' : 'video.failed',
        );
      }
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
  await sql`/* prepared: webhooks.insert */
    insert into media.webhook_deliveries (id, task_id, url) values (${id}::uuid, ${taskId}::uuid, ${url})`.execute(
    scope.transaction,
  );
  await enqueueRound(scope, { deliveryId: id, round: 1 });
}
