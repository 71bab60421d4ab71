import type { EventBus } from '../../../platform/events/event-bus.ts';
import { newId } from '../../../platform/ids.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type { TransactionScope } from '../tasks/storage/transactor.ts';
import { insertDeliveries, listEndpoints, type Announced, type WebhookEndpoint } from './endpoint-store.ts';
import { enqueueRound } from './rounds.ts';

/** Tells the operator's endpoints of events, in the transaction in which they happen. */
export interface Announcer {
  readonly announce: (scope: TransactionScope, event: AnnouncedEvent) => Promise<void>;
  /** The end of a task; its message is made when it is sent, because addresses of files expire. */
  taskEnded(scope: TransactionScope, taskId: string, type: string): Promise<void>;
  /** Endpoints have changed: every process reads them again. */
  changed(): void;
  close(): void;
}

/** An event that is no task's end. */
interface AnnouncedEvent {
  /** The same again is told once. */
  readonly id: string;
  readonly type: string;
  readonly at: Date;
  readonly data: JsonObject;
}

/** Topic of the bus: the endpoints have changed. */
const TOPIC = 'webhook-endpoints';
/** Longest time that a lost wake-up goes unnoticed. */
const MAX_AGE_MS = 10_000;

/** Makes the announcer of a process. It knows the endpoints, so that events that nobody hears of cost no statement. */
export function createAnnouncer({ bus }: { readonly bus: EventBus }): Announcer {
  let known: { readonly at: number; readonly endpoints: readonly WebhookEndpoint[] } | null = null;
  const forget = (): void => {
    known = null;
  };
  const stops = [bus.listen(TOPIC, forget), bus.onGap(forget)];

  // Read by the connection at hand: another one may not be free within a transaction.
  async function endpointsOf(scope: TransactionScope, type: string): Promise<readonly WebhookEndpoint[]> {
    const now = performance.now();
    if (known === null || now - known.at > MAX_AGE_MS) {
      known = { at: now, endpoints: await listEndpoints(scope.transaction) };
    }
    return known.endpoints.filter(({ eventTypes }) => hears(eventTypes, type));
  }

  async function deliver(scope: TransactionScope, type: string, announced: Announced): Promise<void> {
    const endpoints = await endpointsOf(scope, type);
    if (endpoints.length === 0) return;
    const deliveries = endpoints.map(({ id }) => ({ id: newId(), endpoint: id }));
    for (const deliveryId of await insertDeliveries(scope.transaction, deliveries, announced)) {
      await enqueueRound(scope, { deliveryId, round: 1 });
    }
  }

  return {
    announce: (scope, { id, type, at, data }) =>
      deliver(scope, type, {
        eventId: id,
        taskId: null,
        event: { type, timestamp: at.toISOString(), data },
      }),
    taskEnded: (scope, taskId, type) => deliver(scope, type, { eventId: taskId, taskId, event: null }),
    changed() {
      forget();
      bus.publish(TOPIC, 'all', Date.now());
    },
    close() {
      for (const stop of stops) stop();
    },
  };
}

/** Whether an endpoint of these types hears of an event. */
function hears(eventTypes: readonly string[], type: string): boolean {
  const [group = ''] = type.split('.');
  return eventTypes.some((one) => one === type || one === '*' || one === `${group}.*`);
}
