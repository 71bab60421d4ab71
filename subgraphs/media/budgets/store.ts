import { sql, type RawBuilder } from 'kysely';

import type { MediaDatabase, MediaTransaction } from '../database/database.ts';
import type { Budget } from '../domain/budget.ts';
import { PERIOD_START, SPENT } from '../tasks/storage/budget-charges.ts';

/** SQL of budgets. What ends of work do to them is in tasks/storage/budget-charges.ts. */

/** A budget as it is stored, at this moment. */
export interface StoredBudget extends Budget {
  /** Whether this period's warning has been sent. */
  readonly hasWarned: boolean;
  /** Whether it has reservations of work that was lost, or less than none (what earlier releases could count). */
  readonly hasExpired: boolean;
}

/** What an administrator decides of a budget. */
export type BudgetTerms = Pick<
  Budget,
  | 'name'
  | 'scope'
  | 'subject'
  | 'period'
  | 'amount'
  | 'softAmount'
  | 'currency'
  | 'maxRunning'
  | 'startsPerMinute'
  | 'refusesUnknown'
>;

const columns = sql`
  budget.id, budget.name, budget.scope, budget.subject, budget.period, budget.amount, budget.soft_amount,
  budget.currency, budget.max_running, budget.starts_per_minute, budget.refuses_unknown, budget.reserved,
  budget.running, budget.created_at, greatest(budget.period_start, ${PERIOD_START}) as period_start, ${SPENT} as spent,
  (date_trunc(lower(budget.period), now() at time zone 'utc') + ('1 ' || budget.period)::interval) at time zone 'utc'
    as renews_at,
  case when budget.minute >= date_trunc('minute', now()) then budget.minute_starts else 0 end as minute_starts,
  coalesce(budget.warned_period >= ${PERIOD_START}, false) as has_warned,
  budget.reserved < 0 or exists(
    select 1 from media.budget_holds hold where hold.budget_id = budget.id and hold.expires_at < now()
  ) as has_expired`;

/** All budgets, or those of one subject, by scope and name. */
export async function listBudgets(
  database: MediaDatabase,
  subject: string | null,
): Promise<readonly StoredBudget[]> {
  const { rows } = await sql<StoredBudget>`/* budgets.list */
    select ${columns} from media.budgets budget
    where ${subject}::text is null or budget.scope in ('USER', 'KEY') and budget.subject = ${subject}
    order by budget.scope, budget.name, budget.id`.execute(database);
  return rows;
}

/** Budgets by their ids, unlocked. */
export async function readBudgets(
  database: MediaDatabase | MediaTransaction,
  ids: readonly string[],
): Promise<readonly StoredBudget[]> {
  const { rows } = await sql<StoredBudget>`/* budgets.read */
    select ${columns} from media.budgets budget where budget.id = any(${ids}::uuid[]) order by budget.id`.execute(
    database,
  );
  return rows;
}

/** What each budget bounds, for the cache of processes. */
export async function readSubjects(
  database: MediaDatabase,
): Promise<readonly Pick<Budget, 'id' | 'scope' | 'subject'>[]> {
  return database.selectFrom('media.budgets').select(['id', 'scope', 'subject']).execute();
}

/** Locks budgets, in the order of their ids. */
export async function lockBudgets(
  transaction: MediaTransaction,
  ids: readonly string[],
): Promise<readonly StoredBudget[]> {
  const { rows } = await sql<StoredBudget>`/* budgets.lock */
    select ${columns} from media.budgets budget where budget.id = any(${ids}::uuid[])
    order by budget.id for no key update`.execute(transaction);
  return rows;
}

/** Releases what lost work had reserved of locked budgets. */
export async function releaseExpired(transaction: MediaTransaction, ids: readonly string[]): Promise<void> {
  await sql`/* budgets.release-expired */
    with gone as (
      delete from media.budget_holds where budget_id = any(${ids}::uuid[]) and expires_at < now()
    ), left_over as (
      select budget_id, sum(amount)::bigint as amount, count(*)::integer as count from media.budget_holds
      where budget_id = any(${ids}::uuid[]) and (expires_at < now()) is not true group by budget_id
    )
    update media.budgets budget set reserved = coalesce(left_over.amount, 0), running = coalesce(left_over.count, 0)
    from media.budgets own left join left_over on left_over.budget_id = own.id
    where own.id = budget.id and budget.id = any(${ids}::uuid[])`.execute(transaction);
}

/** A part of a budget that work reserves. */
export interface Reservation {
  readonly id: string;
  readonly amount: number;
}

/** Reserves parts of locked budgets for one piece of work. */
export async function reserveParts(
  transaction: MediaTransaction,
  { holder, expiresInSeconds }: { readonly holder: string; readonly expiresInSeconds: number | null },
  parts: readonly Reservation[],
): Promise<void> {
  await sql`/* budgets.reserve */
    with parts as (
      select * from jsonb_to_recordset(${JSON.stringify(parts)}::jsonb) as part(id uuid, amount bigint)
    ), held as (
      insert into media.budget_holds (holder, budget_id, amount, expires_at)
      select ${holder}::uuid, id, amount, now() + make_interval(secs => ${expiresInSeconds}::float8) from parts
    )
    update media.budgets budget set
      spent = ${SPENT}, period_start = greatest(budget.period_start, ${PERIOD_START}),
      reserved = budget.reserved + parts.amount, running = budget.running + 1,
      minute = greatest(budget.minute, date_trunc('minute', now())),
      minute_starts = 1 + case when budget.minute >= date_trunc('minute', now()) then budget.minute_starts else 0 end
    from parts where budget.id = parts.id`.execute(transaction);
}

/** Notes that budgets have warned in this period; those that had not before. */
export async function markWarned(
  transaction: MediaTransaction,
  ids: readonly string[],
): Promise<readonly StoredBudget[]> {
  const { rows } = await sql<StoredBudget>`/* budgets.warned */
    update media.budgets budget set warned_period = greatest(budget.period_start, ${PERIOD_START})
    where budget.id = any(${ids}::uuid[]) and (budget.warned_period >= ${PERIOD_START}) is not true
    returning ${columns}`.execute(transaction);
  return rows;
}

/**
 * Waits for the ends of work that are being written, and holds up the next: what was spent is then counted exactly. First
 * in its transaction, because ends of work touch the totals before they wait for a budget.
 */
async function lockTotals(transaction: MediaTransaction): Promise<void> {
  await sql`/* budgets.lock-totals */ lock table media.usage in share mode`.execute(transaction);
}

/** Writes a new budget. What was spent in its period, and what runs already, is in it from the first moment. */
export async function insertBudget(
  transaction: MediaTransaction,
  id: string,
  terms: BudgetTerms,
): Promise<void> {
  await lockTotals(transaction);
  await sql`/* budgets.insert */
    insert into media.budgets (id, name, scope, subject, period, amount, soft_amount, currency, max_running,
      starts_per_minute, refuses_unknown, period_start)
    values (${id}::uuid, ${terms.name}, ${terms.scope}, ${terms.subject}, ${terms.period}, ${terms.amount},
      ${terms.softAmount}, ${terms.currency}, ${terms.maxRunning}, ${terms.startsPerMinute}, ${terms.refusesUnknown},
      'epoch')`.execute(transaction);
  await holdRunning(transaction, id, terms);
  await countSpent(transaction, id, terms);
}

/** Changes what an administrator decides, but for whose work it bounds; nothing when there is no such budget. */
export async function changeBudget(
  transaction: MediaTransaction,
  id: string,
  terms: BudgetTerms,
): Promise<void> {
  const { name, period, amount, softAmount, currency, maxRunning, startsPerMinute, refusesUnknown } = terms;
  await lockTotals(transaction);
  await sql`/* budgets.change */
    update media.budgets budget set name = ${name}, period = ${period}, amount = ${amount},
      soft_amount = ${softAmount}, currency = ${currency}, max_running = ${maxRunning},
      starts_per_minute = ${startsPerMinute}, refuses_unknown = ${refusesUnknown},
      warned_period = case when ${softAmount}::bigint > budget.spent + budget.reserved then null
        else budget.warned_period end
    where budget.id = ${id}::uuid`.execute(transaction);
  await countSpent(transaction, id, terms);
}

/** Removes a budget with its reservations: as it was, undefined when there is none. */
export async function deleteBudget(database: MediaDatabase, id: string): Promise<StoredBudget | undefined> {
  const { rows } = await sql<StoredBudget>`/* budgets.delete */
    delete from media.budgets budget where budget.id = ${id}::uuid returning ${columns}`.execute(database);
  return rows[0];
}

/**
 * Tasks that are open when a budget is made count as running; what they cost is charged when it is known. Open ones alone
 * are read; what was sold is accounted to nobody whom a budget names.
 */
async function holdRunning(transaction: MediaTransaction, id: string, of: Bounded): Promise<void> {
  await sql`/* budgets.hold-running */
    with held as (
      insert into media.budget_holds (holder, budget_id, amount)
      select task.id, budget.id, 0 from media.tasks task, media.budgets budget
      where budget.id = ${id}::uuid and task.ended_at is null
        and ${isBounded(of, sql`not task.sold and task.owner`, sql`task.generator`)}
      returning 1
    )
    update media.budgets set running = (select count(*) from held) where id = ${id}::uuid`.execute(
    transaction,
  );
}

/** Sets what was spent in the current period from the totals; work of the sandbox costs nothing. */
async function countSpent(transaction: MediaTransaction, id: string, of: Bounded): Promise<void> {
  await sql`/* budgets.count-spent */
    update media.budgets budget set period_start = ${PERIOD_START}, spent = coalesce((
      select sum(total.cost) from media.usage total
      where total.day >= (${PERIOD_START} at time zone 'utc')::date and total.currency = budget.currency
        and not total.sandbox
        and ${isBounded(of, sql`total.owner`, sql`total.generator`)}
    ), 0) where budget.id = ${id}::uuid`.execute(transaction);
}

type Bounded = Pick<BudgetTerms, 'scope' | 'subject'>;

/** Plain conditions, each for its index: tasks and totals that a budget does not bound are not read. */
function isBounded(
  { scope, subject }: Bounded,
  owner: RawBuilder<unknown>,
  generator: RawBuilder<unknown>,
): RawBuilder<boolean> {
  if (scope === 'TOTAL') return sql`true`;
  return sql`${scope === 'GENERATOR' ? generator : owner} = ${subject}`;
}
