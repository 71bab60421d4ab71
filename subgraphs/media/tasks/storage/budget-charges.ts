import { sql, type RawBuilder } from 'kysely';

/**
 * Parts of the statements that end work: what they do to budgets (budgets/ has the rest). Rows of budgets are locked first
 * and in the order of their ids, before any row of the totals, so that ends of work never wait for each other in a circle.
 * Without budgets they read an empty table.
 */

/** First moment of the current period of the budget `budget`, in UTC. */
export const PERIOD_START: RawBuilder<Date> = sql`
  (date_trunc(lower(budget.period), now() at time zone 'utc') at time zone 'utc')`;

/** What the budget has spent in its current period. */
export const SPENT: RawBuilder<number> = sql`
  (case when budget.period_start >= ${PERIOD_START} then budget.spent else 0 end)`;

/** The budgets that bound the work of `owner` at any of `generators`. */
function bounds(owner: RawBuilder<unknown>, generators: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(budget.scope = 'TOTAL'
    or budget.scope in ('USER', 'KEY') and budget.subject = ${owner}
    or budget.scope = 'GENERATOR' and budget.subject = any(${generators}))`;
}

/**
 * Common table expressions that charge a cost to every budget that bounds it, in place of what was reserved. They read
 * `settled` (one row: owner, generator, cost, currency); `charged` has what they changed.
 */
export function chargeBudgets(holder: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    charged_budgets as (
      select budget.id from media.budgets budget, settled
      where ${bounds(sql`settled.owner`, sql`array[settled.generator]`)} order by budget.id for no key update of budget
    ), parts as (
      select hold.budget_id, least(hold.amount, coalesce(settled.cost, 0)) as amount
      from media.budget_holds hold, settled where hold.holder = ${holder}
    ), less_held as (
      update media.budget_holds hold set amount = hold.amount - parts.amount from parts
      where hold.holder = ${holder} and hold.budget_id = parts.budget_id
        and hold.budget_id in (select id from charged_budgets)
    ), charged as (
      update media.budgets budget set
        spent = ${SPENT} + case when settled.currency = budget.currency then coalesce(settled.cost, 0) else 0 end,
        period_start = greatest(budget.period_start, ${PERIOD_START}),
        reserved = budget.reserved - coalesce(
          (select parts.amount from parts where parts.budget_id = budget.id), 0)
      from settled where budget.id in (select id from charged_budgets)
      returning budget.id, budget.spent + budget.reserved >= budget.soft_amount
        and budget.warned_period is distinct from budget.period_start as is_soft
    )`;
}

/** Common table expressions that give back what is still reserved for work that ends; `released` has the budgets. */
export function releaseBudgets(holder: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    parts as (
      select budget_id, amount from media.budget_holds where holder = ${holder}
    ), released_budgets as (
      select budget.id from media.budgets budget where budget.id in (select budget_id from parts)
      order by budget.id for no key update
    ), released as (
      update media.budgets budget set reserved = budget.reserved - parts.amount, running = budget.running - 1
      from parts where budget.id = parts.budget_id and budget.id in (select id from released_budgets) returning budget.id
    ), gone as (
      delete from media.budget_holds where holder = ${holder} and (select count(*) from released) >= 0
    )`;
}
