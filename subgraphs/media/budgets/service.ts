import type { Caller } from '../../../platform/access/caller.ts';
import { badInput, notFound } from '../../../platform/errors.ts';
import { isUuid, newId } from '../../../platform/ids.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { Budget, BudgetScope } from '../domain/budget.ts';
import type { BudgetCache } from './gate.ts';
import {
  changeBudget,
  deleteBudget,
  insertBudget,
  listBudgets,
  readBudgets,
  type BudgetTerms,
} from './store.ts';

/** Budgets as administrators manage them, and as those whom they bound see them. */
export type BudgetService = ReturnType<typeof createBudgetService>;

/** What an administrator sends; amounts in the currency of the price list. */
export interface BudgetInput {
  readonly name?: string | null | undefined;
  readonly period?: Budget['period'] | null | undefined;
  readonly amount?: number | null | undefined;
  readonly softAmount?: number | null | undefined;
  readonly maxRunning?: number | null | undefined;
  readonly startsPerMinute?: number | null | undefined;
  readonly refusesUnknown?: boolean | null | undefined;
}

const MAX_BUDGETS = 10_000;

/** Makes the service. `currency`: that of the price list, null without one. */
export function createBudgetService(options: {
  readonly database: MediaDatabase;
  readonly cache: BudgetCache;
  readonly currency: string | null;
}) {
  const { database, cache, currency } = options;
  const known = async (id: string): Promise<Budget> => {
    const [budget] = isUuid(id) ? await readBudgets(database, [id]) : [];
    if (budget === undefined) throw notFound('budget', id);
    return budget;
  };
  return {
    /** Every budget. */
    all: (): Promise<readonly Budget[]> => listBudgets(database, null),
    /** Those of the caller alone; none for callers without a credential. */
    own: async (caller: Caller): Promise<readonly Budget[]> =>
      caller.kind === 'anonymous' ? [] : listBudgets(database, caller.id),
    /** BAD_USER_INPUT for a budget that bounds nothing, or nobody. */
    async create(scope: BudgetScope, subject: string | null, input: BudgetInput): Promise<Budget> {
      const terms = checkedTerms(
        { ...NO_TERMS, scope, subject: checkedSubject(scope, subject) },
        input,
        currency,
      );
      const id = newId();
      if ((await listBudgets(database, null)).length >= MAX_BUDGETS)
        throw badInput('scope', `there may be at most ${MAX_BUDGETS} budgets`);
      await database.transaction().execute((transaction) => insertBudget(transaction, id, terms));
      cache.changed();
      return known(id);
    },
    /** Changes what is sent; null takes a bound away. NOT_FOUND, BAD_USER_INPUT. */
    async update(id: string, input: BudgetInput): Promise<Budget> {
      const terms = checkedTerms(await known(id), input, currency);
      await database.transaction().execute((transaction) => changeBudget(transaction, id, terms));
      return known(id);
    },
    /** NOT_FOUND. What it had reserved is forgotten, work that runs goes on. */
    async remove(id: string): Promise<Budget> {
      const budget = isUuid(id) ? await deleteBudget(database, id) : undefined;
      if (budget === undefined) throw notFound('budget', id);
      cache.changed();
      return budget;
    },
  };
}

const NO_TERMS = {
  name: '',
  period: 'MONTH',
  amount: null,
  softAmount: null,
  currency: null,
  maxRunning: null,
  startsPerMinute: null,
  refusesUnknown: false,
} as const satisfies Omit<BudgetTerms, 'scope' | 'subject'>;

const SUBJECTS: Readonly<Record<Exclude<BudgetScope, 'TOTAL'>, { pattern: RegExp; name: string }>> = {
  USER: {
    pattern: /^(usr_.{1,200}|anon)$/,
    name: 'the id of a user (usr_...), or anon for callers without a credential',
  },
  KEY: { pattern: /^key_.{1,200}$/, name: 'the id of a service key (key_...)' },
  GENERATOR: { pattern: /^.{1,200}$/, name: 'the name of a generator, such as imga or agg/vidb' },
};

function checkedSubject(scope: BudgetScope, subject: string | null): string | null {
  if (scope === 'TOTAL') {
    if (subject !== null) throw badInput('subject', 'must be absent: a total budget bounds everything');
    return null;
  }
  const { pattern, name } = SUBJECTS[scope];
  if (subject === null || !pattern.test(subject)) throw badInput('subject', `must be ${name}`);
  return subject;
}

/** The terms of a budget with what was sent; each number is checked. */
function checkedTerms(known: BudgetTerms, input: BudgetInput, currency: string | null): BudgetTerms {
  const { scope, subject } = known;
  const amount = microUnits('amount', input.amount, known.amount);
  const softAmount = microUnits('softAmount', input.softAmount, known.softAmount);
  const maxRunning = whole('maxRunning', input.maxRunning, known.maxRunning);
  const startsPerMinute = whole('startsPerMinute', input.startsPerMinute, known.startsPerMinute);
  if (amount === null && softAmount === null && maxRunning === null && startsPerMinute === null)
    throw badInput('amount', 'a budget needs amount, softAmount, maxRunning or startsPerMinute');
  if (softAmount !== null && amount !== null && softAmount > amount)
    throw badInput('softAmount', 'must not be more than amount');
  const hasAmount = amount !== null || softAmount !== null;
  if (hasAmount && currency === null)
    throw badInput('amount', 'needs a price list, and there is none: see PRICES_FILE');
  const name = (input.name ?? known.name).trim();
  if (name.length > 200) throw badInput('name', 'may have at most 200 characters');
  return {
    scope,
    subject,
    name: name === '' ? (subject ?? 'Everything') : name,
    period: input.period ?? known.period,
    amount,
    softAmount,
    currency: hasAmount ? currency : null,
    maxRunning,
    startsPerMinute,
    refusesUnknown: input.refusesUnknown ?? known.refusesUnknown,
  };
}

/** The greatest amount whose millionths are exact. */
const MAX_AMOUNT = 1_000_000_000;
const MAX_NUMBER = 1_000_000;

function microUnits(field: string, sent: number | null | undefined, known: number | null): number | null {
  if (sent === undefined) return known;
  if (sent === null) return null;
  if (!(sent >= 0 && sent <= MAX_AMOUNT)) throw badInput(field, `must be from 0 to ${MAX_AMOUNT}`);
  return Math.round(sent * 1_000_000);
}

function whole(field: string, sent: number | null | undefined, known: number | null): number | null {
  if (sent === undefined) return known;
  if (sent !== null && !(sent >= 0 && sent <= MAX_NUMBER))
    throw badInput(field, `must be from 0 to ${MAX_NUMBER}`);
  return sent;
}
