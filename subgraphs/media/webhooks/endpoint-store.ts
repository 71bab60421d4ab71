import { createHmac } from 'node:crypto';

import { sql } from 'kysely';

import { jsonText } from '../../../platform/json.ts';
import type { StoredEvent } from '../database/column-types.ts';
import type { MediaDatabase, MediaTransaction } from '../database/database.ts';

/** SQL of webhook endpoints, and of the deliveries to them. */

/** An address of the operator that receives events. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  readonly description: string;
  /** As `task.failed`, `provider.*`, or `*` for everything. */
  readonly eventTypes: readonly string[];
  readonly secretVersion: number;
  readonly rotatedAt: Date | null;
  readonly createdAt: Date;
}

/** Every endpoint, oldest first. */
export async function listEndpoints(
  database: MediaDatabase | MediaTransaction,
): Promise<readonly WebhookEndpoint[]> {
  return database.selectFrom('media.webhookEndpoints').selectAll().orderBy('id').execute();
}

/** One endpoint; null when there is none. */
export async function readEndpoint(database: MediaDatabase, id: string): Promise<WebhookEndpoint | null> {
  const row = await database
    .selectFrom('media.webhookEndpoints')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  return row ?? null;
}

/** Writes a new one. */
export async function insertEndpoint(
  database: MediaDatabase,
  { id, url, description, eventTypes }: Pick<WebhookEndpoint, 'id' | 'url' | 'description' | 'eventTypes'>,
): Promise<void> {
  const types = [...eventTypes];
  await database
    .insertInto('media.webhookEndpoints')
    .values({ id, url, description, eventTypes: types })
    .execute();
}

/** Changes what an administrator decides; null when there is none. */
export async function changeEndpoint(
  database: MediaDatabase,
  id: string,
  { url, description, eventTypes }: Pick<WebhookEndpoint, 'url' | 'description' | 'eventTypes'>,
): Promise<WebhookEndpoint | null> {
  const row = await database
    .updateTable('media.webhookEndpoints')
    .set({ url, description, eventTypes: [...eventTypes] })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

/** Begins the next version of its secret; null when there is none. */
export async function nextSecret(database: MediaDatabase, id: string): Promise<WebhookEndpoint | null> {
  const row = await database
    .updateTable('media.webhookEndpoints')
    .set({ secretVersion: sql<number>`secret_version + 1`, rotatedAt: sql<Date>`now()` })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

/** Removes one with its deliveries. */
export async function deleteEndpoint(database: MediaDatabase, id: string): Promise<void> {
  await database.deleteFrom('media.webhookEndpoints').where('id', '=', id).execute();
}

/** What a delivery to an endpoint tells: the end of a task, or an event of its own. */
export interface PublishedEvent {
  /** Published again under the same id, it is delivered once. */
  readonly eventId: string;
  readonly taskId: string | null;
  readonly event: StoredEvent | null;
}

/** Stores deliveries to endpoints that are still there; those that are new, and where they go. */
export async function insertDeliveries(
  transaction: MediaTransaction,
  deliveries: readonly { readonly id: string; readonly endpoint: string }[],
  { eventId, taskId, event }: PublishedEvent,
): Promise<readonly { readonly id: string; readonly url: string }[]> {
  const { rows } = await sql<{ id: string; url: string }>`/* prepared: webhooks.publish */
    insert into media.webhook_deliveries (id, endpoint_id, url, event_id, task_id, event)
    select delivery.id, endpoint.id, endpoint.url, ${eventId}, ${taskId}::uuid,
      ${event === null ? null : jsonText(event)}::jsonb
    from jsonb_to_recordset(${JSON.stringify(deliveries)}::jsonb) as delivery(id uuid, endpoint uuid)
      join media.webhook_endpoints endpoint on endpoint.id = delivery.endpoint
    on conflict do nothing returning id, url`.execute(transaction);
  return rows;
}

/** A delivery to an endpoint, as administrators see it. */
export interface EndpointDelivery {
  /** Also the webhook-id of every attempt. */
  readonly id: string;
  readonly endpointId: string;
  readonly url: string;
  readonly type: string;
  readonly taskId: string | null;
  readonly state: 'PENDING' | 'DELIVERED' | 'GIVEN_UP';
  readonly attempts: number;
  readonly createdAt: Date;
  readonly deliveredAt: Date | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
}

/** Deliveries to endpoints, newest first: of one endpoint, or one delivery. */
export async function endpointDeliveries(
  database: MediaDatabase,
  {
    endpointId = null,
    id = null,
    first,
  }: {
    readonly endpointId?: string | null;
    readonly id?: string | null;
    readonly first: number;
  },
): Promise<readonly EndpointDelivery[]> {
  const { rows } = await sql<EndpointDelivery>`/* webhooks.of-endpoint */
    select delivery.id, endpoint_id, url, task_id, delivery.state, attempts, delivery.created_at, delivered_at, last_status,
      last_error, coalesce(event->>'type', 'task.' || lower(task.state)) as type
    from media.webhook_deliveries delivery left join media.tasks task on task.id = task_id
    where endpoint_id is not null and (${endpointId}::uuid is null or endpoint_id = ${endpointId}::uuid)
      and (${id}::uuid is null or delivery.id = ${id}::uuid)
    order by delivery.id desc limit ${first}`.execute(database);
  return rows;
}

/** Hours that the secret before the last rotation still signs. */
const OLD_SECRET_HOURS = 24;

/** The secret of one version of an endpoint: derived from the installation's, so that none is stored. */
export function endpointSecret(
  installation: string,
  { id, secretVersion }: Pick<WebhookEndpoint, 'id' | 'secretVersion'>,
): string {
  const derived = createHmac('sha256', installation).update(`endpoint\0${id}\0${secretVersion}`);
  return `whsec_${derived.digest('base64')}`;
}

/** What signs a message to an endpoint: its secret, and for a day after a rotation the one before. */
export function signingSecrets(
  installation: string,
  endpoint: WebhookEndpoint,
  now: Date,
): readonly string[] {
  const { rotatedAt, secretVersion } = endpoint;
  const current = endpointSecret(installation, endpoint);
  const isRecent = rotatedAt !== null && now.getTime() - rotatedAt.getTime() < OLD_SECRET_HOURS * 3_600_000;
  if (!isRecent) return [current];
  return [current, endpointSecret(installation, { ...endpoint, secretVersion: secretVersion - 1 })];
}
