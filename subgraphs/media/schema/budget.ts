import type { BudgetInput as BudgetInputShape } from '../budgets/service.ts';
import {
  type budgetPeriods,
  computeLeft,
  type Budget as BudgetShape,
  type BudgetPeriod as PeriodWord,
  type budgetScopes,
} from '../domain/budget.ts';
import { builder } from './builder.ts';

const BudgetScope = builder.enumType('BudgetScope', {
  description: 'Whose work a budget bounds.',
  values: {
    USER: { description: 'What one user starts, or everybody without a credential (anon).' },
    KEY: { description: 'What one service key starts.' },
    GENERATOR: { description: 'What one generator does, steps of recipes among it.' },
    TOTAL: { description: 'Everything.' },
  } satisfies Record<(typeof budgetScopes)[number], { description: string }>,
});

const BudgetPeriod = builder.enumType('BudgetPeriod', {
  description: 'What an amount is for.',
  values: {
    DAY: { description: 'Each day of UTC.' },
    MONTH: { description: 'Each calendar month of UTC.' },
  } satisfies Record<(typeof budgetPeriods)[number], { description: string }>,
});

const inCurrency = (microUnits: number): number => microUnits / 1_000_000;
const inCurrencyOrNull = (microUnits: number | null): number | null =>
  microUnits === null ? null : inCurrency(microUnits);

const Budget = builder.objectRef<BudgetShape>('Budget').implement({
  description:
    'A limit of what may be started: an amount per period, a number of running tasks, a rate. A start beyond it is BUDGET_EXCEEDED before anything is sent.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    name: t.exposeString('name', { description: 'What it is called here.' }),
    scope: t.expose('scope', { type: BudgetScope, description: 'Whose work it bounds.' }),
    subject: t.exposeString('subject', {
      nullable: true,
      description: 'usr_..., key_..., anon, or the name of a generator; null for everything.',
    }),
    period: t.expose('period', { type: BudgetPeriod, description: 'What `amount` is for.' }),
    amount: t.float({
      nullable: true,
      description: 'Most that may be spent in a period, in `currency`; null: no bound.',
      resolve: ({ amount }) => inCurrencyOrNull(amount),
    }),
    softAmount: t.float({
      nullable: true,
      description:
        'When so much is spent or reserved, `budget.warning` is sent once in the period; null: never.',
      resolve: ({ softAmount }) => inCurrencyOrNull(softAmount),
    }),
    currency: t.exposeString('currency', {
      nullable: true,
      description: 'ISO 4217 code, that of the price list; null for a budget without an amount.',
    }),
    maxRunning: t.exposeInt('maxRunning', {
      nullable: true,
      description: 'Most tasks and chats that have not ended, waiting ones among them; null: no bound.',
    }),
    startsPerMinute: t.exposeInt('startsPerMinute', {
      nullable: true,
      description: 'Most starts in a minute of the clock; null: no bound.',
    }),
    refusesUnknownPrices: t.exposeBoolean('refusesUnknown', {
      description:
        'Whether work whose price is unknown is refused. Otherwise it counts for numbers and rates alone, and is refused once the amount is used up.',
    }),
    spent: t.float({
      description: 'What ended work has cost in this period, as far as its price is known.',
      resolve: ({ spent }) => inCurrency(spent),
    }),
    reserved: t.float({
      description: 'What work that has not ended is expected to cost.',
      resolve: ({ reserved }) => inCurrency(reserved),
    }),
    left: t.float({
      nullable: true,
      description:
        'What a start may cost now: `amount` without `spent` and `reserved`; null without an amount.',
      resolve: (budget) => inCurrencyOrNull(computeLeft(budget)),
    }),
    running: t.exposeInt('running', { description: 'Tasks and chats that have not ended.' }),
    renewsAt: t.expose('renewsAt', { type: 'DateTime', description: 'When its period ends.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  }),
});

interface Terms extends Omit<BudgetInputShape, 'refusesUnknown'> {
  readonly period?: PeriodWord | null | undefined;
  readonly refusesUnknownPrices?: boolean | null | undefined;
}

const BudgetInput = builder.inputType('BudgetInput', {
  description: 'What a budget allows. On update: absent leaves as it is, null takes the bound away.',
  fields: (t) => ({
    name: t.string({ description: 'What to call it (default: its subject).' }),
    period: t.field({ type: BudgetPeriod, description: 'What `amount` is for (default MONTH).' }),
    amount: t.float({
      description: 'Most that may be spent in a period, in the currency of the price list.',
    }),
    softAmount: t.float({ description: 'From which a warning is sent, once in a period.' }),
    maxRunning: t.int({ description: 'Most tasks and chats that have not ended.' }),
    startsPerMinute: t.int({ description: 'Most starts in a minute of the clock.' }),
    refusesUnknownPrices: t.boolean({
      description: 'Whether work whose price is unknown is refused (default false).',
    }),
  }),
});

const toChange = ({ refusesUnknownPrices, ...input }: Terms): BudgetInputShape => ({
  ...input,
  refusesUnknown: refusesUnknownPrices,
});

builder.queryField('budgets', (t) =>
  t.field({
    type: [Budget],
    description: 'Every budget, with what is spent and left of it.',
    rule: 'admin',
    resolve: async (_, __, { services }) => [...(await services.budgets.all())],
  }),
);

builder.queryField('myBudgets', (t) =>
  t.field({
    type: [Budget],
    description:
      "The budgets of the caller, user or key; those of generators and of everything are the operator's.",
    rule: 'owner',
    resolve: async (_, __, { caller, services }) => [...(await services.budgets.own(caller))],
  }),
);

builder.mutationField('createBudget', (t) =>
  t.field({
    type: Budget,
    description:
      'Makes a budget. What was spent in its period and what runs is in it from the beginning; it holds in every process at once.',
    rule: 'admin',
    args: {
      scope: t.arg({ type: BudgetScope, required: true, description: 'Whose work it bounds.' }),
      subject: t.arg.string({
        description: 'usr_..., key_..., anon, or the name of a generator; absent for TOTAL.',
      }),
      input: t.arg({ type: BudgetInput, required: true, description: 'What it allows.' }),
    },
    resolve: (_, { scope, subject = null, input }, { services }) =>
      services.budgets.create(scope, subject, toChange(input)),
  }),
);

builder.mutationField('updateBudget', (t) =>
  t.field({
    type: Budget,
    description: 'Changes what a budget allows. Work that was accepted goes on.',
    rule: 'admin',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the budget.' }),
      input: t.arg({ type: BudgetInput, required: true, description: 'What to change.' }),
    },
    resolve: (_, { id, input }, { services }) => services.budgets.update(id, toChange(input)),
  }),
);

builder.mutationField('deleteBudget', (t) =>
  t.field({
    type: Budget,
    description: 'Removes a budget: it bounds nothing from now on.',
    rule: 'admin',
    args: { id: t.arg.id({ required: true, description: 'The id of the budget.' }) },
    resolve: (_, { id }, { services }) => services.budgets.remove(id),
  }),
);
