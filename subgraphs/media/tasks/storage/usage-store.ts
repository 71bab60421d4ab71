import { sql, type RawBuilder } from 'kysely';

import type { MediaDatabase, MediaTransaction } from '../../database/database.ts';
import { jsonText } from '../../database/json-text.ts';
import type { AttemptKey } from '../../domain/attempt.ts';
import type { Cost, Units } from '../../domain/cost.ts';
import { SOLD } from '../../domain/task.ts';
import { chargeBudgets, releaseBudgets } from './budget-charges.ts';

/**
 * SQL of what work cost: on each attempt, and in the totals of its day. Both are written in the transaction that ends the
 * attempt or the task, so that the totals are exact without counting. Days are those of UTC.
 */

/**
 * The row, of 64 at most, that a connection adds to of the totals of one day, owner, generator, provider, model and currency.
 * By connection, as one has one transaction at a time: with a hash of the task, ends waited for each other's commit.
 */
const SHARD: RawBuilder<number> = sql`pg_backend_pid() % 64`;

/** Keeps what an upstream measured, until the attempt is settled. */
export async function keepUnits(transaction: MediaTransaction, key: AttemptKey, units: Units): Promise<void> {
  await sql`/* usage.keep-units */
    update media.attempts set units = ${jsonText(units)}::jsonb
    where task_id = ${key.taskId}::uuid and step = ${key.step} and number = ${key.number}
      and settled_at is null`.execute(transaction);
}

/**
 * Writes the cost of a closed attempt, charges it to budgets, and adds it to the totals, once. The ids of budgets that
 * have passed their soft amount by it and have not warned of it.
 */
export async function settleAttempt(
  transaction: MediaTransaction,
  key: AttemptKey,
  { cost, owner, sandbox }: { readonly cost: Cost; readonly owner: string; readonly sandbox: boolean },
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`/* usage.settle-attempt */
    with closed as (
      update media.attempts set units = ${jsonText(cost.units)}::jsonb, cost = ${cost.microUnits},
        currency = ${cost.currency}, cost_estimated = ${cost.estimated}, sandbox = ${sandbox}, settled_at = now()
      where task_id = ${key.taskId}::uuid and step = ${key.step} and number = ${key.number} and settled_at is null
      returning *
    ), settled as (
      select *, ${owner}::text as owner, split_part(binding, '#', 1) as generator from closed
    ), ${chargeBudgets(sql`${key.taskId}::uuid`)}, totals as (
      insert into media.usage as total (day, owner, generator, provider, model, sandbox, currency, shard,
        attempts_succeeded, attempts_failed, unpriced, cost, pictures, milliseconds, characters, input_tokens,
        cached_tokens, output_tokens, runs, gpu_milliseconds)
      select (settled_at at time zone 'utc')::date, owner, generator, provider, coalesce(model, ''),
        sandbox, coalesce(currency, ''), ${SHARD},
        (state = 'SUCCEEDED')::integer, (state <> 'SUCCEEDED')::integer, ${unitColumns} from settled
      where (select count(*) from charged) >= 0
      on conflict (day, owner, generator, provider, model, sandbox, currency, shard) do update set ${added}
    )
    select id from charged where is_soft`.execute(transaction);
  return rows.map(({ id }) => id);
}

/** What one chat took and cost at a provider. */
export interface ChatCharge {
  readonly id: string;
  readonly owner: string;
  readonly generator: string;
  readonly provider: string;
  readonly model: string | null;
  readonly sandbox: boolean;
  readonly cost: Cost;
}

/** Writes the cost of a chat, charges it to budgets, and adds it to the totals. The ids of budgets as of an attempt. */
export async function settleChat(
  transaction: MediaTransaction,
  holder: string,
  { cost, ...chat }: ChatCharge,
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`/* usage.settle-chat */
    with settled as (
      insert into media.chat_costs (id, owner, generator, provider, model, sandbox, units, cost, currency)
      values (${chat.id}::uuid, ${chat.owner}, ${chat.generator}, ${chat.provider}, ${chat.model ?? ''},
        ${chat.sandbox}, ${jsonText(cost.units)}::jsonb, ${cost.microUnits}::bigint, ${cost.currency}::text)
      returning *
    ), ${chargeBudgets(sql`${holder}::uuid`)}, totals as (
      insert into media.usage as total (day, owner, generator, provider, model, sandbox, currency, shard, chats,
        unpriced, cost, pictures, milliseconds, characters, input_tokens, cached_tokens, output_tokens, runs,
        gpu_milliseconds)
      select (settled_at at time zone 'utc')::date, owner, generator, provider, model, sandbox,
        coalesce(currency, ''), ${SHARD}, 1, ${unitColumns} from settled
      where (select count(*) from charged) >= 0
      on conflict (day, owner, generator, provider, model, sandbox, currency, shard) do update set ${added}
    )
    select id from charged where is_soft`.execute(transaction);
  return rows.map(({ id }) => id);
}

/** Gives back what budgets had reserved for work without a task. */
export async function releaseHolder(transaction: MediaTransaction, holder: string): Promise<void> {
  await sql`/* usage.release */
    with ${releaseBudgets(sql`${holder}::uuid`)} select count(*) from released`.execute(transaction);
}

/** Removes the costs of chats of so many days ago, at most `limit`; the totals stay. */
export async function pruneChatCosts(
  database: MediaDatabase,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<void> {
  await sql`/* usage.prune-chats */
    delete from media.chat_costs where id in (
      select id from media.chat_costs where settled_at < now() - make_interval(days => ${days})
      limit ${limit} for update skip locked)`.execute(database);
}

/**
 * Adds a task that has just ended to the totals, under the provider and model of its last attempt, and gives back what
 * budgets had reserved for it.
 */
export async function settleTask(
  transaction: MediaTransaction,
  taskId: string,
  state: 'SUCCEEDED' | 'FAILED' | 'CANCELLED',
): Promise<void> {
  const column = sql.ref(TASK_COLUMNS[state]);
  await sql`/* usage.settle-task */
    with ${releaseBudgets(sql`${taskId}::uuid`)}
    insert into media.usage as total (day, owner, generator, provider, model, sandbox, currency, shard, ${column})
    select (task.ended_at at time zone 'utc')::date, ${ACCOUNT}, task.generator, coalesce(last.provider, ''),
      coalesce(last.model, ''), task.sandbox, '', ${SHARD}, 1
    from media.tasks task left join lateral (
      select provider, model from media.attempts where task_id = task.id order by step desc, number desc limit 1
    ) last on true where task.id = ${taskId}::uuid and (select count(*) from released) >= 0
    on conflict (day, owner, generator, provider, model, sandbox, currency, shard)
      do update set ${column} = total.${column} + 1`.execute(transaction);
}

/** Whom `task` is accounted to (domain/task.ts: accountOf). */
export const ACCOUNT: RawBuilder<string> = sql`(case when task.sold then ${sql.lit(SOLD)} else task.owner end)`;

const TASK_COLUMNS = {
  SUCCEEDED: 'tasks_succeeded',
  FAILED: 'tasks_failed',
  CANCELLED: 'tasks_cancelled',
} as const;

/** A task that has ended, as it is logged. */
export interface EndSummary {
  readonly task: string;
  readonly kind: string;
  readonly generator: string;
  readonly state: string;
  /** Code of its failure. */
  readonly code: string | null;
  /** Of its last attempt. */
  readonly provider: string | null;
  readonly model: string | null;
  readonly owner: string;
  readonly attempts: number;
  /** Millionths of the currency; null when a part is unknown. */
  readonly cost: number | null;
  readonly currency: string | null;
  /** Until its first start, from there to the last result, and from there to its end. */
  readonly queueMs: number | null;
  readonly runMs: number | null;
  readonly storeMs: number | null;
  /** The trace in which it was submitted. */
  readonly traceId: string | null;
}

/** The summary of a task that has just ended. */
export async function readEnd(transaction: MediaTransaction, taskId: string): Promise<EndSummary | null> {
  const { rows } = await sql<EndSummary>`/* usage.read-end */
    select task.id as task, task.kind, task.generator, task.state, task.error->>'code' as code, task.owner,
      sums.provider, sums.model, sums.attempts, sums.cost, sums.currency,
      (extract(epoch from task.started_at - task.created_at) * 1000)::integer as queue_ms,
      (extract(epoch from sums.ended_at - task.started_at) * 1000)::integer as run_ms,
      (extract(epoch from task.ended_at - sums.ended_at) * 1000)::integer as store_ms,
      split_part(task.traceparent, '-', 2) as trace_id
    from media.tasks task left join lateral (
      select count(*)::integer as attempts, max(ended_at) as ended_at, max(currency) as currency,
        case when bool_and(cost is not null) then sum(cost)::bigint end as cost,
        (array_agg(provider order by step desc, number desc))[1] as provider,
        (array_agg(model order by step desc, number desc))[1] as model
      from media.attempts where task_id = task.id
    ) sums on true where task.id = ${taskId}::uuid`.execute(transaction);
  return rows[0] ?? null;
}

/** Cost and units of a row that has been settled, in the order of the columns. */
const unitColumns = sql`(cost is null)::integer, coalesce(cost, 0), coalesce((units->>'pictures')::bigint, 0),
  coalesce((units->>'milliseconds')::bigint, 0), coalesce((units->>'characters')::bigint, 0),
  coalesce((units->>'inputTokens')::bigint, 0), coalesce((units->>'cachedTokens')::bigint, 0),
  coalesce((units->>'outputTokens')::bigint, 0), coalesce((units->>'runs')::bigint, 0),
  coalesce((units->>'gpuMilliseconds')::bigint, 0)`;

const added = sql.join(
  [
    'attempts_succeeded',
    'attempts_failed',
    'chats',
    'unpriced',
    'cost',
    'pictures',
    'milliseconds',
    'characters',
    'input_tokens',
    'cached_tokens',
    'output_tokens',
    'runs',
    'gpu_milliseconds',
  ].map((name) => sql`${sql.ref(name)} = total.${sql.ref(name)} + excluded.${sql.ref(name)}`),
);
