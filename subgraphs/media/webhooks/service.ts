import { mayChange, type Caller } from '../../../platform/access/caller.ts';
import { notFound } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import { isUuid } from '../../../platform/ids.ts';
import type { Queue } from '../../../platform/queue/queue.ts';
import type { MediaDatabase } from '../database/database.ts';
import { readTasks } from '../tasks/storage/task-store.ts';
import { createTransactor } from '../tasks/storage/transactor.ts';
import { listDeliveries, readDelivery, beginNewRound } from './delivery-store.ts';

/** The log of result webhooks, as the owners of their tasks see it. */
export type WebhookService = ReturnType<typeof createWebhookService>;

/** The delivery of one task's end to its callback address. */
export interface WebhookDelivery {
  /** Also the webhook-id of every attempt. */
  readonly id: string;
  readonly taskId: string;
  readonly url: string;
  /** Attempts so far, redeliveries included. */
  readonly attempts: number;
  readonly deliveredAt: Date | null;
  /** HTTP status of the last attempt; null when no answer came. */
  readonly lastStatus: number | null;
  /** Why the last attempt failed. */
  readonly lastError: string | null;
}

export interface WebhookServiceOptions {
  readonly database: MediaDatabase;
  readonly queue: Queue;
  readonly bus: EventBus;
}

/** Makes it over the media schema. */
export function createWebhookService(options: WebhookServiceOptions) {
  const { database } = options;
  const transactor = createTransactor(options);
  return {
    /** The deliveries of a task; none before its end or without a callback address. NOT_FOUND for others' tasks. */
    async deliveries(caller: Caller, taskId: string): Promise<readonly WebhookDelivery[]> {
      if (!isUuid(taskId) || !(await isOwn(database, caller, taskId))) throw notFound('task', taskId);
      const deliveries = await listDeliveries(database, taskId);
      return deliveries.map((delivery) => ({ ...delivery, taskId }));
    },
    /**
     * Sends a delivery again now, under its own id, with all its retries. Has no effect while it is queued or running.
     * NOT_FOUND for others' deliveries.
     */
    async redeliver(caller: Caller, id: string): Promise<WebhookDelivery> {
      const known = isUuid(id) ? await readDelivery(database, id) : null;
      const taskId = known?.endpointId === null ? known.taskId : null;
      if (known === null || taskId === null || !(await isOwn(database, caller, taskId))) {
        throw notFound('webhook delivery', id);
      }
      return { ...((await beginNewRound(transactor, id)) ?? known), taskId };
    },
  };
}

async function isOwn(database: MediaDatabase, caller: Caller, taskId: string): Promise<boolean> {
  const [task] = await readTasks(database, [taskId]);
  return task !== undefined && mayChange(caller, task.owner);
}
