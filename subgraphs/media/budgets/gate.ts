import { AppError } from '../../../platform/errors.ts';
import { createCachedRead } from '../../../platform/events/cached-read.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { MediaDatabase, MediaTransaction } from '../database/database.ts';
import {
  boundBroken,
  computeLeft,
  secondsUntilRoom,
  type Budget,
  type BudgetBound,
} from '../domain/budget.ts';
import type { Cost } from '../domain/cost.ts';
import {
  lockBudgets,
  readBudgets,
  releaseExpired,
  reserveParts,
  type StoredBudget,
  readSubjects,
} from './store.ts';

/** Lets starts through that their budgets allow, and reserves what they are expected to cost. */
export type BudgetGate = ReturnType<typeof createBudgetGate>;

/**
 * Reserves in the transaction that accepts the work; the ids of budgets that have passed their soft amount by it and have
 * not warned of it. Throws BUDGET_EXCEEDED.
 */
type ReserveBudgets = (transaction: MediaTransaction) => Promise<readonly string[]>;

interface BudgetedStart {
  /** Of its task, or of the reservation alone. */
  readonly id: string;
  readonly owner: string;
  /** What it is expected to cost, at each of its generators. */
  readonly parts: () => readonly ExpectedPart[];
  /** After which the reservation ends by itself; null: with its task. */
  readonly expiresInSeconds?: number;
}

/** What one piece of work is expected to cost. */
export interface ExpectedPart {
  readonly generator: string;
  /** Of the sandbox: what it would cost. */
  readonly cost: Cost;
  /** Whether the sandbox does it, which costs nothing. */
  readonly sandbox?: boolean;
}

/** Makes the gate over the budgets of a cache. */
export function createBudgetGate(options: { readonly database: MediaDatabase; readonly cache: BudgetCache }) {
  const { database, cache } = options;
  const listBounding = ({ owner, parts }: Pick<BudgetedStart, 'owner' | 'parts'>) =>
    cache.bounding(owner, () => parts().map(({ generator }) => generator));
  return {
    /** What reserves for a start; null when no budget bounds it. Reads the database only when budgets have changed. */
    async open(start: BudgetedStart): Promise<ReserveBudgets | null> {
      const ids = await listBounding(start);
      return ids.length === 0 ? null : (transaction) => reserve(transaction, ids, start);
    },
    /** Throws what reserving would throw now. */
    async check({ parts, ...start }: Omit<BudgetedStart, 'id'>): Promise<void> {
      const ids = await listBounding({ ...start, parts });
      if (ids.length === 0) return;
      for (const budget of await readBudgets(database, ids)) refuseBeyond(budget, costIn(budget, parts()));
    },
  };
}

async function reserve(
  transaction: MediaTransaction,
  ids: readonly string[],
  { id, parts, expiresInSeconds }: BudgetedStart,
): Promise<readonly string[]> {
  const budgets = await lockedNow(transaction, ids);
  const expected = budgets.map((budget) => ({ budget, cost: costIn(budget, parts()) }));
  for (const { budget, cost } of expected) refuseBeyond(budget, cost);
  const reserved = expected.map(({ budget, cost }) => ({ id: budget.id, amount: cost ?? 0 }));
  await reserveParts(transaction, { holder: id, expiresInSeconds: expiresInSeconds ?? null }, reserved);
  return expected.filter(passesSoft).map(({ budget }) => budget.id);
}

/** Locked, and without reservations of work that was lost. */
async function lockedNow(
  transaction: MediaTransaction,
  ids: readonly string[],
): Promise<readonly StoredBudget[]> {
  const budgets = await lockBudgets(transaction, ids);
  if (!budgets.some(({ hasExpired }) => hasExpired)) return budgets;
  await releaseExpired(transaction, ids);
  return lockBudgets(transaction, ids);
}

/** What work is expected to cost a budget; null when a part of it has no price in the budget's currency. */
function costIn({ scope, subject, currency }: Budget, parts: readonly ExpectedPart[]): number | null {
  let sum: number | null = 0;
  for (const { generator, cost, sandbox = false } of parts) {
    if (sandbox || (scope === 'GENERATOR' && generator !== subject)) continue;
    const known: number | null = cost.currency === currency ? cost.microUnits : null;
    sum = sum === null || known === null ? null : sum + known;
  }
  return sum;
}

function passesSoft({
  budget,
  cost,
}: {
  readonly budget: StoredBudget;
  readonly cost: number | null;
}): boolean {
  const { softAmount, spent, reserved, hasWarned } = budget;
  return !hasWarned && softAmount !== null && spent + reserved + (cost ?? 0) >= softAmount;
}

function refuseBeyond(budget: Budget, cost: number | null): void {
  const bound = boundBroken(budget, cost);
  if (bound === null) return;
  const { renewsAt } = budget;
  const isOwn = budget.scope === 'USER' || budget.scope === 'KEY';
  const text = isOwn ? ownRefusal(bound, budget, cost) : othersRefusal(bound, budget);
  throw new AppError('BUDGET_EXCEEDED', `${text}; nothing was started`, {
    retryAfter: secondsUntilRoom(bound, budget, new Date()),
    ...(isOwn && {
      limit: {
        allowed: formatAllowed(bound, budget),
        left: bound === 'amount' || bound === 'unknown price' ? (computeLeft(budget) ?? 0) / MICRO : 0,
        renewsAt: bound === 'amount' ? renewsAt.toISOString() : null,
      },
    }),
  });
}

const MICRO = 1_000_000;
const PERIODS = { DAY: 'a day', MONTH: 'a month' } as const;

function formatAllowed(bound: BudgetBound, { amount, currency, period, ...numbers }: Budget): string {
  if (bound === 'running') return `${numbers.maxRunning} running at once`;
  if (bound === 'rate') return `${numbers.startsPerMinute} starts a minute`;
  return `${(amount ?? 0) / MICRO} ${currency} ${PERIODS[period]}`;
}

/** With numbers: whose budget it is may know them. */
function ownRefusal(bound: BudgetBound, budget: Budget, cost: number | null): string {
  const allowed = `your budget allows ${formatAllowed(bound, budget)}`;
  if (bound === 'running') return `${allowed}, and ${budget.running} run now`;
  if (bound === 'rate') return allowed;
  if (bound === 'unknown price') return `${allowed}, and takes no work whose price is unknown`;
  const needs = cost === null ? '' : `, this is expected to cost ${cost / MICRO}`;
  const left = `${(computeLeft(budget) ?? 0) / MICRO} ${budget.currency} are left`;
  return `${allowed}: ${left}${needs}; it renews at ${budget.renewsAt.toISOString()}`;
}

/** Without numbers: they are the operator's. */
function othersRefusal(bound: BudgetBound, { scope, subject, renewsAt }: Budget): string {
  const whose = scope === 'GENERATOR' ? `the budget of generator ${subject}` : 'the budget of this service';
  if (bound === 'running') return `${whose} allows no more work at once`;
  if (bound === 'rate') return `${whose} allows no more starts this minute`;
  if (bound === 'unknown price') return `${whose} takes no work whose price is unknown`;
  return `${whose} is used up; it renews at ${renewsAt.toISOString()}`;
}

/** Which budgets there are, so that starts that none bounds cost no statement. What they have left is never cached. */
export type BudgetCache = ReturnType<typeof createBudgetCache>;

/** Topic of the bus: the budgets have changed. */
const TOPIC = 'budgets';

type Subject = Pick<Budget, 'id' | 'scope' | 'subject'>;

/** Makes the cache of a process. */
export function createBudgetCache(options: { readonly database: MediaDatabase; readonly bus: EventBus }) {
  const { database, bus } = options;
  const subjects = createCachedRead<readonly Subject[]>(bus, TOPIC);
  return {
    /** The ids of the budgets that bound work of an owner at some generators. */
    async bounding(owner: string, generators: () => readonly string[]): Promise<readonly string[]> {
      const all = await subjects.get(() => readSubjects(database));
      if (all.length === 0) return [];
      const names = new Set(generators());
      return all
        .filter(({ scope, subject }) => {
          if (subject === null) return true;
          return scope === 'GENERATOR' ? names.has(subject) : subject === owner;
        })
        .map(({ id }) => id);
    },
    /** Budgets were made or removed: every process reads them again. */
    changed: (): void => subjects.changed(),
    close: (): void => subjects.close(),
  };
}
