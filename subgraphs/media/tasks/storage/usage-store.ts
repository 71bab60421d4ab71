import { sql, type RawBuilder } from 'kysely';

import { jsonText } from '../../../../platform/json.ts';
import type { MediaDatabase, MediaTransaction } from '../../database/database.ts';
import { jsonEntries } from '../../database/expressions.ts';
import type { AttemptKey } from '../../domain/attempt.ts';
import { wholeNumber, wholeUnits, type Cost, type UnitName, type Units } from '../../domain/cost.ts';
import { SOLD } from '../../domain/task.ts';
import { CHARGE_BUDGETS, releaseBudgets } from './budget-charges.ts';

/**
 * SQL of what work cost: on each attempt, and in the totals of its day. Both are written in the transaction that ends the
 * attempt or the task, so that the totals are exact without counting. Days are those of UTC.
 */

/**
 * The row, of 64 at most, that a connection adds to of the totals of one day, owner, generator, provider, model and currency.
 * By connection, as one has one transaction at a time: with a hash of the task, ends waited for each other's commit.
 */
const SHARD: RawBuilder<number> = sql`pg_backend_pid() % 64`;

/** Keeps what upstreams measured, until their attempts are settled. */
export async function keepUnits(
  transaction: MediaTransaction,
  measured: readonly (AttemptKey & { readonly units: Units })[],
): Promise<void> {
  if (measured.length === 0) return;
  const entries = measured.map((one) => ({ ...one, units: wholeUnits(one.units) }));
  await sql`/* prepared: usage.keep-units */
    with ${jsonEntries(entries, `"taskId" uuid, step integer, number integer, units jsonb`)}
    update media.attempts attempt set units = entry.units from entry
    where attempt.task_id = entry."taskId" and attempt.step = entry.step and attempt.number = entry.number
      and attempt.settled_at is null`.execute(transaction);
}

/** A closed attempt and what it cost. */
export interface SettledAttempt extends AttemptKey {
  readonly binding: string;
  readonly owner: string;
  readonly sandbox: boolean;
  readonly cost: Cost;
}

/**
 * Writes the costs of closed attempts, one of a task, charges them to budgets, and adds them to the totals, once. The ids of
 * budgets that have passed their soft amount by it and have not warned of it.
 */
export async function settleAttempts(
  transaction: MediaTransaction,
  attempts: readonly SettledAttempt[],
): Promise<readonly string[]> {
  if (attempts.length === 0) return [];
  const entries = attempts.map(({ cost: { microUnits, units, ...cost }, ...attempt }) => ({
    ...attempt,
    ...cost,
    units: wholeUnits(units),
    cost: wholeNumber(microUnits),
  }));
  const { rows } = await sql<{ id: string }>`/* prepared: usage.settle-attempts */
    with ${jsonEntries(
      entries,
      `"taskId" uuid, step integer, number integer, binding text, owner text, sandbox boolean, units jsonb,
       cost bigint, currency text, estimated boolean`,
    )}, bounded as materialized (
      select *, split_part(binding, '#', 1) as generator from entry
    ), settled as (
      update media.attempts attempt set units = bounded.units, cost = bounded.cost, currency = bounded.currency,
        cost_estimated = bounded.estimated, sandbox = bounded.sandbox, settled_at = now()
      from bounded
      where attempt.task_id = bounded."taskId" and attempt.step = bounded.step and attempt.number = bounded.number
        and attempt.settled_at is null
      returning attempt.task_id as holder, bounded.owner, bounded.generator, attempt.provider, attempt.model,
        attempt.state, attempt.sandbox, attempt.currency, attempt.cost, attempt.units, attempt.settled_at
    ), ${CHARGE_BUDGETS}, totals as (
      insert into media.usage as total (day, owner, generator, provider, model, sandbox, currency, shard,
        attempts_succeeded, attempts_failed, ${UNIT_COLUMNS})
      select (settled_at at time zone 'utc')::date, owner, generator, provider, coalesce(model, ''),
        sandbox, coalesce(currency, ''), ${SHARD},
        count(*) filter (where state = 'SUCCEEDED'), count(*) filter (where state <> 'SUCCEEDED'), ${UNIT_SUMS}
      from settled where (select count(*) from charged) >= 0 group by 1, 2, 3, 4, 5, 6, 7
      on conflict (day, owner, generator, provider, model, sandbox, currency, shard) do update set ${ADDED}
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
    with bounded as (select ${chat.owner}::text as owner, ${chat.generator}::text as generator), written as (
      insert into media.chat_costs (id, owner, generator, provider, model, sandbox, units, cost, currency)
      values (${chat.id}::uuid, ${chat.owner}, ${chat.generator}, ${chat.provider}, ${chat.model ?? ''},
        ${chat.sandbox}, ${jsonText(wholeUnits(cost.units))}::jsonb, ${wholeNumber(cost.microUnits)}::bigint, ${cost.currency}::text)
      returning *
    ), settled as (
      select *, ${holder}::uuid as holder from written
    ), ${CHARGE_BUDGETS}, totals as (
      insert into media.usage as total (day, owner, generator, provider, model, sandbox, currency, shard, chats,
        ${UNIT_COLUMNS})
      select (settled_at at time zone 'utc')::date, owner, generator, provider, model, sandbox,
        coalesce(currency, ''), ${SHARD}, count(*), ${UNIT_SUMS}
      from settled where (select count(*) from charged) >= 0 group by 1, 2, 3, 4, 5, 6, 7
      on conflict (day, owner, generator, provider, model, sandbox, currency, shard) do update set ${ADDED}
    )
    select id from charged where is_soft`.execute(transaction);
  return rows.map(({ id }) => id);
}

/**
 * Locks the budgets that hold a reservation of work without a task, in the order of their ids. Before it is charged: the
 * statement that charges would still read a reservation which has expired and is being released meanwhile.
 */
export async function lockHolder(transaction: MediaTransaction, holder: string): Promise<void> {
  await sql`/* prepared: usage.lock-holder */
    select 1 from media.budgets budget
    where budget.id in (select budget_id from media.budget_holds where holder = ${holder}::uuid)
    order by budget.id for no key update`.execute(transaction);
}

/** Releases what budgets had reserved for work without a task. */
export async function releaseHolder(transaction: MediaTransaction, holder: string): Promise<void> {
  await sql`/* prepared: usage.release */
    with ${releaseBudgets(sql`array[${holder}::uuid]`)} select count(*) from released`.execute(transaction);
}

/** Removes the costs of chats of so many days ago, at most `limit`; the totals stay. */
export async function pruneChatCosts(
  database: MediaDatabase,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<void> {
  await sql`/* usage.prune-chats */
    delete from media.chat_costs where id = any(array(
      select id from media.chat_costs where settled_at < now() - make_interval(days => ${days})
      order by settled_at limit ${limit} for update skip locked))`.execute(database);
}

/** Whom `task` is accounted to (domain/task.ts: chooseAccount). */
const ACCOUNT: RawBuilder<string> = sql`(case when task.sold then ${sql.lit(SOLD)} else task.owner end)`;

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

/**
 * Adds tasks that have just ended to the totals, under the provider and model of their last attempts, and releases what
 * budgets had reserved for them. Answers their summaries.
 */
export async function settleTasks(
  transaction: MediaTransaction,
  taskIds: readonly string[],
): Promise<readonly EndSummary[]> {
  if (taskIds.length === 0) return [];
  const { rows } = await sql<EndSummary>`/* prepared: usage.settle-tasks */
    with ended as materialized (
      select task.id as task, task.kind, task.generator, task.state, task.error->>'code' as code, task.owner,
        sums.provider, sums.model, sums.attempts, sums.cost, sums.currency,
        (extract(epoch from task.started_at - task.created_at) * 1000)::bigint as queue_ms,
        (extract(epoch from sums.ended_at - task.started_at) * 1000)::bigint as run_ms,
        (extract(epoch from task.ended_at - sums.ended_at) * 1000)::bigint as store_ms,
        split_part(task.traceparent, '-', 2) as trace_id,
        (task.ended_at at time zone 'utc')::date as day, ${ACCOUNT} as account, task.sandbox
      from media.tasks task left join lateral (
        select count(*)::integer as attempts, max(ended_at) as ended_at, max(currency) as currency,
          case when bool_and(cost is not null) then sum(cost)::bigint end as cost,
          (array_agg(provider order by step desc, number desc))[1] as provider,
          (array_agg(model order by step desc, number desc))[1] as model
        from media.attempts where task_id = task.id
      ) sums on true where task.id = any(${taskIds}::uuid[])
    ), ${releaseBudgets(sql`${taskIds}::uuid[]`)}, totals as (
      insert into media.usage as total (day, owner, generator, provider, model, sandbox, currency, shard,
        tasks_succeeded, tasks_failed, tasks_cancelled)
      select day, account, generator, coalesce(provider, ''), coalesce(model, ''), sandbox, '', ${SHARD},
        count(*) filter (where state = 'SUCCEEDED'), count(*) filter (where state = 'FAILED'),
        count(*) filter (where state = 'CANCELLED')
      from ended where (select count(*) from released) >= 0 group by 1, 2, 3, 4, 5, 6
      on conflict (day, owner, generator, provider, model, sandbox, currency, shard) do update set
        tasks_succeeded = total.tasks_succeeded + excluded.tasks_succeeded,
        tasks_failed = total.tasks_failed + excluded.tasks_failed,
        tasks_cancelled = total.tasks_cancelled + excluded.tasks_cancelled
    )
    select task, kind, generator, state, code, owner, provider, model, attempts, cost, currency, queue_ms, run_ms,
      store_ms, trace_id from ended`.execute(transaction);
  return rows;
}

/** What is counted of a row that has been settled. */
const COUNTED = {
  unpriced: sql`(cost is null)::integer`,
  cost: sql`cost`,
  pictures: unit('pictures'),
  milliseconds: unit('milliseconds'),
  characters: unit('characters'),
  input_tokens: unit('inputTokens'),
  cached_tokens: unit('cachedTokens'),
  output_tokens: unit('outputTokens'),
  runs: unit('runs'),
  gpu_milliseconds: unit('gpuMilliseconds'),
};

function unit(name: UnitName): RawBuilder<unknown> {
  return sql`(units->>${sql.lit(name)})::bigint`;
}

/** Its columns in the totals, and what a statement adds to them. */
const UNIT_COLUMNS = sql.join(Object.keys(COUNTED).map((name) => sql.ref(name)));
const UNIT_SUMS = sql.join(Object.values(COUNTED).map((value) => sql`coalesce(sum(${value}), 0)`));
const ADDED = sql.join(
  ['attempts_succeeded', 'attempts_failed', 'chats', ...Object.keys(COUNTED)].map(
    (name) => sql`${sql.ref(name)} = total.${sql.ref(name)} + excluded.${sql.ref(name)}`,
  ),
);
