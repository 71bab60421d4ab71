import { sql } from 'kysely';

import type { WorkflowDatabase } from '../database/database.ts';
import { withCallerErrors, type PayEvent, type PayProvider } from './provider/pay-provider.ts';
import type { PaymentStore } from './store.ts';

/** Webhook events of the provider: they name a payment to reconcile and are trusted for nothing else. */
export interface EventDependencies {
  readonly database: WorkflowDatabase;
  readonly store: PaymentStore;
  readonly provider: PayProvider;
  readonly reconcile: (paymentId: string, sessionId?: string) => Promise<unknown>;
}

const MAX_ERROR = 500;

/**
 * Processes an event, once. Events of other apps or modes of the account are ignored; a failure is thrown, so that the
 * provider sends the event again.
 */
export async function processEvent(
  dependencies: EventDependencies,
  event: PayEvent,
): Promise<'done' | 'seen' | 'ignored'> {
  const { database, provider } = dependencies;
  const { refersTo } = event;
  if (refersTo.kind === 'nothing' || event.isLive !== (provider.environment === 'live')) return 'ignored';
  const { processedAt } = await database
    .insertInto('workflow.payEvents')
    .values({ id: event.id, type: event.type, attempts: 1 })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ attempts: sql`pay_events.attempts + 1` }))
    .returning('processedAt')
    .executeTakeFirstOrThrow();
  if (processedAt !== null) return 'seen';
  try {
    const found = await findPayment(dependencies, refersTo);
    if (found !== null) await dependencies.reconcile(found.id, found.sessionId);
    await close(database, event.id, null);
    return found === null ? 'ignored' : 'done';
  } catch (error) {
    await close(database, event.id, error);
    throw error;
  }
}

async function close(database: WorkflowDatabase, id: string, error: unknown): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  await database
    .updateTable('workflow.payEvents')
    .set(
      error === null
        ? { processedAt: sql<Date>`now()`, lastError: null }
        : { lastError: message.replaceAll('\0', '').slice(0, MAX_ERROR) },
    )
    .where('id', '=', id)
    .execute();
}

interface FoundPayment {
  readonly id: string;
  readonly sessionId?: string;
}

/** The payment of an event, from our table, else from the provider; null when it is not ours. */
async function findPayment(
  { store, provider }: EventDependencies,
  look: Exclude<PayEvent['refersTo'], { readonly kind: 'nothing' }>,
): Promise<FoundPayment | null> {
  const known =
    look.kind === 'session'
      ? await store.bySession(look.sessionId)
      : await store.byIntent(look.paymentIntentId);
  if (known !== null) return { id: known.id };
  // A refund's event may arrive before the session's; the intent carries the payment's id too.
  const [named] = look.paymentId === null ? [] : await store.byIds([look.paymentId]);
  if (named === undefined) return null;
  if (look.kind === 'session') return { id: named.id, sessionId: look.sessionId };
  const sessionId = await withCallerErrors(() => provider.sessionOfIntent(look.paymentIntentId));
  return sessionId === null ? { id: named.id } : { id: named.id, sessionId };
}

/** Deletes events older than 30 days, at most `limit`. */
export async function pruneEvents(database: WorkflowDatabase, limit: number): Promise<void> {
  await sql`/* payments.prune-events */
    delete from workflow.pay_events where id = any(array(
      select id from workflow.pay_events where received_at < now() - interval '30 days'
      order by received_at limit ${limit}))`.execute(database);
}
