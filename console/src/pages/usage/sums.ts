import type { UsageQuery } from '../../api/documents/operations.ts';
import type { Money } from '../../parts/money.ts';

/** A row of the API, and whether it is of the sandbox, where nothing is paid. */
export type Row = UsageQuery['usage'][number] & { readonly sandbox: boolean };

/** What usage is grouped by here. */
export const GROUPS = ['MODEL', 'GENERATOR', 'PROVIDER', 'OWNER', 'KEY'] as const;

/** One of them. */
export type Group = (typeof GROUPS)[number];

/** A sum of rows. */
export interface Sum {
  readonly name: string | null;
  readonly done: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly unpriced: number;
  readonly pictures: number;
  readonly seconds: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** What was paid. */
  readonly cost: Money;
  /** What work of the sandbox would have cost; null amount: none did, or that is not known. */
  readonly wouldCost: Money;
}

const FIELDS = {
  MODEL: 'model',
  GENERATOR: 'generator',
  PROVIDER: 'provider',
  OWNER: 'owner',
  KEY: 'key',
} as const;

/** The name of the group that a row belongs to. */
export function readName(row: Row, group: Group): string | null {
  return row[FIELDS[group]];
}

/** What rows cost together. An amount is unknown only when none is known, or the currencies differ. */
function addMoney(rows: readonly Row[], usualCurrency: string | null): Money {
  const priced = rows.filter(({ cost }) => cost.amount !== null && cost.currency !== null);
  const currencies = new Set(priced.map(({ cost }) => cost.currency));
  const amount = priced.reduce((sum, { cost }) => sum + (cost.amount ?? 0), 0);
  const unpriced = rows.reduce((sum, row) => sum + row.unpriced, 0);
  // Nothing known is unknown, never 0.
  const isKnown = currencies.size <= 1 && !(amount === 0 && unpriced > 0);
  return { amount: isKnown ? amount : null, currency: [...currencies][0] ?? usualCurrency };
}

/** Rows as one. */
export function addRows(name: string | null, rows: readonly Row[]): Sum {
  const add = (pick: (row: Row) => number | null) => rows.reduce((sum, row) => sum + (pick(row) ?? 0), 0);
  const usual = rows.find(({ cost }) => cost.currency !== null)?.cost.currency ?? null;
  return {
    name,
    done: add(({ succeeded, chats }) => succeeded + chats),
    failed: add((row) => row.failed),
    cancelled: add((row) => row.cancelled),
    unpriced: add((row) => (row.sandbox ? 0 : row.unpriced)),
    pictures: add(({ cost }) => cost.units.pictures),
    seconds: add(({ cost }) => cost.units.seconds),
    inputTokens: add(({ cost }) => cost.units.inputTokens),
    outputTokens: add(({ cost }) => cost.units.outputTokens),
    cost: addMoney(
      rows.filter(({ sandbox }) => !sandbox),
      usual,
    ),
    wouldCost: addMoney(
      rows.filter(({ sandbox }) => sandbox),
      usual,
    ),
  };
}

/** One sum per name, the largest first by what a chart shows of it. */
export function sumsBy(rows: readonly Row[], group: Group, weigh: (sum: Sum) => number): readonly Sum[] {
  return [...Map.groupBy(rows, (row) => readName(row, group))]
    .map(([name, own]) => addRows(name, own))
    .toSorted((one, other) => weigh(other) - weigh(one));
}
