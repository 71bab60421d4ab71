/** Limits of spending: what they bound, and what they refuse. Pure. */

/** Whose work a budget bounds: a user's, a service key's, what one generator does, or everything. */
export const budgetScopes = ['USER', 'KEY', 'GENERATOR', 'TOTAL'] as const;

/** One of them. */
export type BudgetScope = (typeof budgetScopes)[number];

/** What an amount is for; days and months are those of UTC. */
export const budgetPeriods = ['DAY', 'MONTH'] as const;

/** One of them. */
export type BudgetPeriod = (typeof budgetPeriods)[number];

/** A budget, and how much of it is used. Amounts are millionths of its currency. */
export interface Budget {
  readonly id: string;
  readonly name: string;
  readonly scope: BudgetScope;
  /** `usr_...`, `key_...`, `anon`, or the name of a generator; null for everything. */
  readonly subject: string | null;
  readonly period: BudgetPeriod;
  /** Null: no bound. */
  readonly amount: number | null;
  /** A warning is sent once per period when this much is used; null: none. */
  readonly softAmount: number | null;
  /** ISO 4217, upper case; null for a budget without an amount. */
  readonly currency: string | null;
  readonly maxRunning: number | null;
  readonly startsPerMinute: number | null;
  /** Whether work whose price is unknown is refused; else it counts for numbers and rates alone. */
  readonly refusesUnknown: boolean;
  readonly periodStart: Date;
  readonly renewsAt: Date;
  /** In the current period. */
  readonly spent: number;
  /** By work that has not ended. */
  readonly reserved: number;
  readonly running: number;
  /** In the current minute. */
  readonly minuteStarts: number;
  readonly createdAt: Date;
}

/** What a budget refuses a start for. */
export type BudgetBound = 'amount' | 'unknown price' | 'running' | 'rate';

/** What is left of its amount; null without one, and never below 0. */
export function computeLeft({ amount, spent, reserved }: Pick<Budget, 'amount' | 'spent' | 'reserved'>) {
  return amount === null ? null : Math.max(0, amount - spent - reserved);
}

/** Why a start that is expected to cost so much goes beyond a budget; null when it does not. Null costs: unknown. */
export function boundBroken(budget: Budget, expected: number | null): BudgetBound | null {
  const { maxRunning, startsPerMinute, amount, refusesUnknown } = budget;
  if (maxRunning !== null && budget.running >= maxRunning) return 'running';
  if (startsPerMinute !== null && budget.minuteStarts >= startsPerMinute) return 'rate';
  if (amount === null) return null;
  if (expected === null && refusesUnknown) return 'unknown price';
  const left = amount - budget.spent - budget.reserved;
  return left < (expected ?? 1) && expected !== 0 ? 'amount' : null;
}

/** Seconds after which a start may be taken again: when the period or the minute ends, or soon. */
export function secondsUntilRoom(bound: BudgetBound, { renewsAt }: Budget, now: Date): number {
  if (bound === 'running') return RUNNING_PAUSE;
  if (bound === 'rate') return 60 - (Math.floor(now.getTime() / 1000) % 60);
  return Math.max(1, Math.ceil((renewsAt.getTime() - now.getTime()) / 1000));
}

/** Seconds after which work of others may have ended. */
const RUNNING_PAUSE = 5;
