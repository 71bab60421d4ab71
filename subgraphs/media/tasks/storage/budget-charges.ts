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
 * Common table expressions that charge costs to every budget that bounds them, in place of what was reserved. They read
 * `bounded` (owner and generator of all that may be charged) and `settled` (holder, owner, generator, sandbox, cost and
 * currency of what is: each holder once; work of the sandbox costs nothing); `charged` has the budgets that they changed.
 */
export const CHARGE_BUDGETS: RawBuilder<unknown> = sql`
    charged_budgets as (
      select budget.id, budget.scope, budget.subject, budget.currency from media.budgets budget
      where exists (select from bounded where ${bounds(sql`bounded.owner`, sql`array[bounded.generator]`)})
      order by budget.id for no key update of budget
    ), charges as (
      select budget.id as budget_id, settled.holder, least(coalesce(hold.amount, 0), coalesce(settled.cost, 0)) as held,
        case when settled.currency = budget.currency and not settled.sandbox then coalesce(settled.cost, 0) else 0 end as cost
      from charged_budgets budget
        join settled on ${bounds(sql`settled.owner`, sql`array[settled.generator]`)}
        left join media.budget_holds hold on hold.holder = settled.holder and hold.budget_id = budget.id
    ), less_held as (
      update media.budget_holds hold set amount = hold.amount - charges.held from charges
      where hold.holder = charges.holder and hold.budget_id = charges.budget_id
    ), charged as (
      update media.budgets budget set
        spent = ${SPENT} + sums.cost,
        period_start = greatest(budget.period_start, ${PERIOD_START}),
        reserved = budget.reserved - sums.held
      from (
        select budget_id, sum(cost)::bigint as cost, coalesce(sum(held), 0)::bigint as held from charges group by budget_id
      ) sums
      where budget.id = sums.budget_id
      returning budget.id, budget.spent + budget.reserved >= budget.soft_amount
        and budget.warned_period is distinct from budget.period_start as is_soft
    )`;

/** Common table expressions that release what is still reserved for work that ends; `released` has the budgets. */
export function releaseBudgets(holders: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    parts as (
      select budget_id, amount from media.budget_holds where holder = any(${holders})
    ), released_budgets as (
      select budget.id from media.budgets budget where budget.id in (select budget_id from parts)
      order by budget.id for no key update
    ), released as (
      update media.budgets budget set reserved = budget.reserved - sums.amount, running = budget.running - sums.holders
      from (
        select budget_id, sum(amount)::bigint as amount, count(*)::integer as holders from parts group by budget_id
      ) sums
      where budget.id = sums.budget_id and budget.id in (select id from released_budgets) returning budget.id
    ), gone as (
      delete from media.budget_holds where holder = any(${holders}) and (select count(*) from released) >= 0
    )`;
}
