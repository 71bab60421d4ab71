import { sql, type RawBuilder } from 'kysely';

import type { MediaTransaction } from '../../database/database.ts';
import { jsonText } from '../../database/json-text.ts';
import type { AttemptKey } from '../../domain/attempt.ts';
import type { Cost, Units } from '../../domain/cost.ts';

/**
 * SQL of what work cost: on each attempt, and in the totals of its day. Both are written in the transaction that ends the
 * attempt or the task, so that the totals are exact without counting. Days are those of UTC.
 */

/** Rows that the totals of one day, owner, generator, provider, model and currency are spread over. */
const SHARDS = 8;

const shardOf = (id: string): RawBuilder<number> => sql`abs(hashtext(${id}) % ${sql.lit(SHARDS)})`;

/** Keeps what an upstream measured, until the attempt is settled. */
export async function keepUnits(transaction: MediaTransaction, key: AttemptKey, units: Units): Promise<void> {
  await sql`/* usage.keep-units */
    update media.attempts set units = ${jsonText(units)}::jsonb
    where task_id = ${key.taskId}::uuid and step = ${key.step} and number = ${key.number}
      and settled_at is null`.execute(transaction);
}

/** Writes the cost of a closed attempt and adds it to the totals, once. */
export async function settleAttempt(
  transaction: MediaTransaction,
  key: AttemptKey,
  { cost, owner, sandbox }: { readonly cost: Cost; readonly owner: string; readonly sandbox: boolean },
): Promise<void> {
  await sql`/* usage.settle-attempt */
    with settled as (
      update media.attempts set units = ${jsonText(cost.units)}::jsonb, cost = ${cost.microUnits},
        currency = ${cost.currency}, cost_estimated = ${cost.estimated}, sandbox = ${sandbox}, settled_at = now()
      where task_id = ${key.taskId}::uuid and step = ${key.step} and number = ${key.number} and settled_at is null
      returning *
    )
    insert into media.usage as total (day, owner, generator, provider, model, sandbox, currency, shard,
      attempts_succeeded, attempts_failed, unpriced, cost, pictures, milliseconds, characters, input_tokens,
      cached_tokens, output_tokens, runs, gpu_milliseconds)
    select (settled_at at time zone 'utc')::date, ${owner}, split_part(binding, '#', 1), provider, coalesce(model, ''),
      sandbox, coalesce(currency, ''), ${shardOf(key.taskId)},
      (state = 'SUCCEEDED')::integer, (state <> 'SUCCEEDED')::integer, ${unitColumns} from settled
    on conflict (day, owner, generator, provider, model, sandbox, currency, shard) do update set ${added}`.execute(
    transaction,
  );
}

/** Adds a task that has just ended to the totals, under the provider and model of its last attempt. */
export async function settleTask(
  transaction: MediaTransaction,
  taskId: string,
  state: 'SUCCEEDED' | 'FAILED' | 'CANCELLED',
): Promise<void> {
  const column = sql.ref(TASK_COLUMNS[state]);
  await sql`/* usage.settle-task */
    insert into media.usage as total (day, owner, generator, provider, model, sandbox, currency, shard, ${column})
    select (task.ended_at at time zone 'utc')::date, task.owner, task.generator, coalesce(last.provider, ''),
      coalesce(last.model, ''), task.sandbox, '', ${shardOf(taskId)}, 1
    from media.tasks task left join lateral (
      select provider, model from media.attempts where task_id = task.id order by step desc, number desc limit 1
    ) last on true where task.id = ${taskId}::uuid
    on conflict (day, owner, generator, provider, model, sandbox, currency, shard)
      do update set ${column} = total.${column} + 1`.execute(transaction);
}

const TASK_COLUMNS = {
  SUCCEEDED: 'tasks_succeeded',
  FAILED: 'tasks_failed',
  CANCELLED: 'tasks_cancelled',
} as const;

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
