import { createCachedRead } from '../../../platform/events/cached-read.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import { newId } from '../../../platform/ids.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type { OperatorEvent } from '../domain/operator-event.ts';
import type { TransactionScope } from '../tasks/storage/transactor.ts';
import { roundJob } from './delivery-store.ts';
import {
  insertDeliveries,
  listEndpoints,
  type PublishedEvent,
  type WebhookEndpoint,
} from './endpoint-store.ts';

/** Publishes events to the operator's endpoints, in the transaction in which they happen. */
export type EventPublisher = ReturnType<typeof createEventPublisher>;

/** Topic of the bus: the endpoints have changed. */
const TOPIC = 'webhook-endpoints';

/** Makes the publisher of a process. It knows the endpoints, so that events that nobody receives cost no statement. */
export function createEventPublisher({ bus }: { readonly bus: EventBus }) {
  const endpoints = createCachedRead<readonly WebhookEndpoint[]>(bus, TOPIC);

  // Read by the connection at hand: another one may not be free within a transaction.
  async function findEndpoints(scope: TransactionScope, type: string): Promise<readonly WebhookEndpoint[]> {
    const all = await endpoints.get(() => listEndpoints(scope.transaction));
    return all.filter(({ eventTypes }) => receives(eventTypes, type));
  }

  async function deliver(scope: TransactionScope, type: string, published: PublishedEvent): Promise<void> {
    const receivers = await findEndpoints(scope, type);
    if (receivers.length === 0) return;
    const deliveries = receivers.map(({ id }) => ({ id: newId(), endpoint: id }));
    const stored = await insertDeliveries(scope.transaction, deliveries, published);
    await scope.enqueue(...stored.map(({ id, url }) => roundJob({ url, deliveryId: id, round: 1 })));
  }

  return {
    publish: (scope: TransactionScope, { id, type, at, data }: OperatorEvent): Promise<void> =>
      deliver(scope, type, {
        eventId: id,
        taskId: null,
        event: type.startsWith('batch.')
          ? openaiEvent(type, at, data)
          : { type, timestamp: at.toISOString(), data },
      }),
    /** The end of a task; its message is made when it is sent, because addresses of files expire. */
    taskEnded: (scope: TransactionScope, taskId: string, type: string): Promise<void> =>
      deliver(scope, type, { eventId: taskId, taskId, event: null }),
    /** The same end of a video in OpenAI's words, for endpoints that name them. */
    async videoEnded(
      scope: TransactionScope,
      taskId: string,
      type: 'video.completed' | 'video.failed',
    ): Promise<void> {
      const event = openaiEvent(type, new Date(), { id: taskId });
      await deliver(scope, type, { eventId: `video:${taskId}`, taskId: null, event });
    },
    /** Endpoints have changed: every process reads them again. */
    changed: (): void => endpoints.changed(),
    close: (): void => endpoints.close(),
  };
}

/** An event in OpenAI's form, with the moment as ours have it. */
function openaiEvent(type: string, at: Date, data: JsonObject) {
  const { id } = data;
  const subject = (typeof id === 'string' ? id : '').replace(/^[a-z]+_/, '').replaceAll('-', '');
  const moments = { created_at: Math.floor(at.getTime() / 1_000), timestamp: at.toISOString() };
  return { id: `evt_${subject}`, object: 'event' as const, ...moments, type, data };
}

/** OpenAI's words for what has a word of ours. */
const ALIASES = 'video';

/** Whether an endpoint of these types receives an event. `*` is each event once, so OpenAI's words are no part of it. */
function receives(eventTypes: readonly string[], type: string): boolean {
  const [group = ''] = type.split('.');
  return eventTypes.some((one) => one === type || (one === '*' && group !== ALIASES) || one === `${group}.*`);
}
