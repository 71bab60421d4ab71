import { withAdvisoryLock } from '../../../platform/database/advisory-lock.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { Queue } from '../../../platform/queue/queue.ts';
import type { MediaDatabase } from '../database/database.ts';
import { readUntouched, type WebhookJob } from './delivery-store.ts';
import { WEBHOOK_QUEUE } from './rounds.ts';

/** The dependencies of a sweep of deliveries. */
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
        const jobs = lost.map((data) => ({ queue: WEBHOOK_QUEUE, data }));
        await database.transaction().execute((transaction) => queue.enqueue(transaction, ...jobs));
        queue.wake(WEBHOOK_QUEUE);
      }
      const last = pending.at(-1);
      if (last === undefined || pending.length < BATCH) return;
      afterId = last.deliveryId;
    }
  });
}
