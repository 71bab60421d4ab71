import { badInput, notFound } from '../../../platform/errors.ts';
import type { OutboundRule } from '../../../platform/http/safe-url.ts';
import { isUuid, newId } from '../../../platform/ids.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { OperatorEvent } from '../domain/operator-event.ts';
import type { Transactor } from '../tasks/storage/transactor.ts';
import { checkedCallbackUrl } from './callback-url.ts';
import { beginNewRound } from './delivery-store.ts';
import {
  changeEndpoint,
  deleteEndpoint,
  endpointDeliveries,
  insertEndpoint,
  listEndpoints,
  nextSecret,
  readEndpoint,
  type EndpointDelivery,
  type WebhookEndpoint,
  endpointSecret,
} from './endpoint-store.ts';
import type { EventPublisher } from './event-publisher.ts';

/** The operator's addresses that receive events. For administrators. */
export type WebhookEndpointService = ReturnType<typeof createWebhookEndpoints>;

/** An endpoint with the secret that is told once. */
export interface EndpointWithSecret {
  readonly endpoint: WebhookEndpoint;
  /** `whsec_` and base64, as Standard Webhooks has it. */
  readonly secret: string;
}

interface EndpointInput {
  readonly url?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly eventTypes?: readonly string[] | null | undefined;
}

const eventTypes = [
  'task.succeeded',
  'task.failed',
  'task.cancelled',
  'budget.warning',
  'provider.down',
  'provider.up',
  'model.retiring',
  'payment.succeeded',
  'payment.failed',
  'payment.cancelled',
  'payment.refunded',
  'payment.disputed',
  'video.completed',
  'video.failed',
  'batch.completed',
  'batch.failed',
  'batch.cancelled',
] as const;

/** What the workflow service and the gateway's batches publish. */
const OTHERS: ReadonlySet<string> = new Set(eventTypes.filter((type) => /^(?:payment|batch)\./.test(type)));

const MAX_ENDPOINTS = 50;
const PATTERNS: ReadonlySet<string> = new Set([
  '*',
  ...eventTypes.flatMap((type) => [type, `${type.split('.')[0]}.*`]),
]);

/** Makes the service. */
export function createWebhookEndpoints(options: {
  readonly database: MediaDatabase;
  readonly transactor: Transactor;
  readonly outbound: OutboundRule;
  readonly publisher: Pick<EventPublisher, 'changed' | 'publish'>;
  /** Of the installation: `whsec_` and base64. */
  readonly webhookSecret: string;
}) {
  const { database, transactor, outbound, publisher, webhookSecret } = options;
  const known = async (id: string): Promise<WebhookEndpoint> =>
    there(id, isUuid(id) ? await readEndpoint(database, id) : null);
  const withSecret = (endpoint: WebhookEndpoint) => ({
    endpoint,
    secret: endpointSecret(webhookSecret, endpoint),
  });
  return {
    all: (): Promise<readonly WebhookEndpoint[]> => listEndpoints(database),
    /** BAD_USER_INPUT. */
    async create(input: EndpointInput): Promise<EndpointWithSecret> {
      if ((await listEndpoints(database)).length >= MAX_ENDPOINTS)
        throw badInput('url', `there may be at most ${MAX_ENDPOINTS} endpoints`);
      const id = newId();
      await insertEndpoint(database, { id, ...checked(outbound, NEW, input) });
      publisher.changed();
      return withSecret(await known(id));
    },
    /** Changes what is sent. NOT_FOUND, BAD_USER_INPUT. */
    async update(id: string, input: EndpointInput): Promise<WebhookEndpoint> {
      const change = checked(outbound, await known(id), input);
      const changed = there(id, await changeEndpoint(database, id, change));
      publisher.changed();
      return changed;
    },
    /** A new secret; the one before signs as well for a day. NOT_FOUND. */
    async rotateSecret(id: string): Promise<EndpointWithSecret> {
      await known(id);
      return withSecret(there(id, await nextSecret(database, id)));
    },
    /** With its deliveries. NOT_FOUND. */
    async remove(id: string): Promise<WebhookEndpoint> {
      const endpoint = await known(id);
      await deleteEndpoint(database, id);
      publisher.changed();
      return endpoint;
    },
    /**
     * Publishes an event of another service; the same id again is published once. BAD_USER_INPUT for a type that is not
     * theirs.
     */
    async publish(event: OperatorEvent): Promise<void> {
      if (!OTHERS.has(event.type)) throw badInput('type', `must be one of ${[...OTHERS].join(', ')}`);
      await transactor.run((scope) => publisher.publish(scope, event));
    },
    /** Newest first. NOT_FOUND. */
    async deliveries(endpointId: string, first: number): Promise<readonly EndpointDelivery[]> {
      await known(endpointId);
      return endpointDeliveries(database, { endpointId, first });
    },
    /** Sends a delivery again now, under its own id, with all its retries. NOT_FOUND. */
    async redeliver(id: string): Promise<EndpointDelivery> {
      const [delivery] = isUuid(id) ? await endpointDeliveries(database, { id, first: 1 }) : [];
      if (delivery === undefined) throw notFound('webhook delivery', id);
      await beginNewRound(transactor, id);
      const [again = delivery] = await endpointDeliveries(database, { id, first: 1 });
      return again;
    },
  };
}

const NEW = { url: '', description: '', eventTypes: ['*'] };

function there(id: string, endpoint: WebhookEndpoint | null): WebhookEndpoint {
  if (endpoint === null) throw notFound('webhook endpoint', id);
  return endpoint;
}

function checked(
  outbound: OutboundRule,
  known: Pick<WebhookEndpoint, 'url' | 'description' | 'eventTypes'>,
  input: EndpointInput,
) {
  const description = (input.description ?? known.description).trim();
  if (description.length > 200) throw badInput('description', 'may have at most 200 characters');
  const types = [...new Set(input.eventTypes ?? known.eventTypes)];
  const unknown = types.find((type) => !PATTERNS.has(type));
  if (unknown !== undefined)
    throw badInput(
      'eventTypes',
      `there is no event ${JSON.stringify(unknown.slice(0, 100))}; there are: ${[...PATTERNS].join(', ')}`,
    );
  if (types.length === 0) throw badInput('eventTypes', 'must name at least one type of event');
  return { url: checkedCallbackUrl(outbound, input.url ?? known.url, 'url'), description, eventTypes: types };
}
