import { sql } from 'kysely';

import { withAdvisoryLock } from '../../../platform/database/advisory-lock.ts';
import { newId } from '../../../platform/ids.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { Queue } from '../../../platform/queue/queue.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { EndListener } from '../tasks/rules/hooks.ts';
import type { TransactionScope } from '../tasks/storage/transactor.ts';
import {
  pruneDeliveries,
  defineWebhookQueue,
  readUntouched,
  roundJob,
  type WebhookJob,
  WEBHOOK_QUEUE,
} from './delivery-store.ts';
import type { EventPublisher } from './event-publisher.ts';

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
  await scope.enqueue(roundJob({ url, deliveryId: id, round: 1 }));
}

interface SweepDependencies {
  readonly database: MediaDatabase;
  readonly queue: Queue;
  readonly logger: Logger;
  /** Seconds without an attempt from which a delivery is looked at (default 120). */
  readonly untouchedSeconds?: number;
}

/** Most deliveries compared with their jobs in one statement. */
const BATCH = 500;
/** Sorts before every id. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Enqueues pending deliveries that no job would send any more, in one process at a time. A job too many does no harm: an
 * attempt begins only when its delivery is due.
 */
export async function enqueueLostDeliveries(dependencies: SweepDependencies): Promise<void> {
  const { database, queue, logger, untouchedSeconds: seconds = 120 } = dependencies;
  await withAdvisoryLock(database, 'media.webhooks.sweep', async () => {
    for (let afterId = FIRST_ID; ;) {
      const pending = await readUntouched(database, { afterId, seconds, limit: BATCH });
      const lost = await queue.withoutJob(
        WEBHOOK_QUEUE,
        pending.map(({ deliveryId, round }): WebhookJob => ({ deliveryId, round })),
      );
      if (lost.length > 0) {
        logger.warn({ deliveries: lost }, 'webhook deliveries without a job are enqueued again');
        const ids = new Set(lost.map((data) => (data as WebhookJob).deliveryId));
        const jobs = pending.filter(({ deliveryId }) => ids.has(deliveryId)).map(roundJob);
        await database.transaction().execute((transaction) => queue.enqueue(transaction, ...jobs));
        queue.wake(WEBHOOK_QUEUE);
      }
      const last = pending.at(-1);
      if (last === undefined || pending.length < BATCH) return;
      afterId = last.deliveryId;
    }
  });
}
