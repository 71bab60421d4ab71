import { mayChange, type Caller } from '../../../platform/access/caller.ts';
import { notFound } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import { isUuid } from '../../../platform/ids.ts';
import type { Queue } from '../../../platform/queue/queue.ts';
import type { DeliveryRow, MediaDatabase } from '../database/database.ts';
import { readTasks } from '../tasks/storage/task-store.ts';
import { createTransactor, type Transactor } from '../tasks/storage/transactor.ts';
import { beginRound, deliveriesOf, readDelivery } from './delivery-store.ts';
import { enqueueRound } from './enqueue.ts';

/** The log of result webhooks, as the owners of their tasks see it. */
export interface WebhookService {
  /** The deliveries of a task; none before its end or without a callback address. NOT_FOUND for others' tasks. */
  deliveries(caller: Caller, taskId: string): Promise<readonly WebhookDelivery[]>;
  /**
   * Sends a delivery again now, under its own id, with all its retries. Has no effect while it is queued or running.
   * NOT_FOUND for others' deliveries.
   */
  redeliver(caller: Caller, id: string): Promise<WebhookDelivery>;
}

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
export function createWebhookService(options: WebhookServiceOptions): WebhookService {
  const { database } = options;
  const transactor = createTransactor(options);
  return {
    async deliveries(caller, taskId) {
      if (!isUuid(taskId) || !(await isOwn(database, caller, taskId))) throw notFound('task', taskId);
      return deliveriesOf(database, taskId);
    },
    async redeliver(caller, id) {
      const known = isUuid(id) ? await readDelivery(database, id) : null;
      if (known === null || !(await isOwn(database, caller, known.taskId))) {
        throw notFound('webhook delivery', id);
      }
      return redeliver(transactor, known);
    },
  };
}

async function isOwn(database: MediaDatabase, caller: Caller, taskId: string): Promise<boolean> {
  const [task] = await readTasks(database, [taskId]);
  return task !== undefined && mayChange(caller, task.owner);
}

/** Under the row's lock, one of several concurrent requests begins the round; the others find it begun. */
async function redeliver(transactor: Transactor, known: DeliveryRow): Promise<DeliveryRow> {
  return transactor.run(async (scope) => {
    const begun = await beginRound(scope.transaction, known.id);
    if (begun !== null) await enqueueRound(scope, { deliveryId: begun.id, round: begun.round });
    return begun ?? (await readDelivery(scope.transaction, known.id)) ?? known;
  });
}
