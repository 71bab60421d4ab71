import { UsageTotals, type UsageTotal } from '../documents/media/questions.ts';
import { done } from '../replies/envelopes.ts';
import { route } from '../route/define-route.ts';
import { query } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import { toCsv, readTime, wrongInput } from './shared/csv.ts';

/**
 * Usage as a table for a spreadsheet: the query `usage` by another way. It responds in the manner of the workflow
 * service, whose refusals have statuses: a program that saves the table must not save a refusal.
 */

const extension = { optional: true, extension: true } as const;
const DIMENSIONS = ['day', 'owner', 'key', 'generator', 'provider', 'model'] as const;
/** Of a request that names none: all but `key`, which repeats the owner. */
const USUAL = 'day,owner,generator,provider,model';
const COUNTS = ['succeeded', 'failed', 'cancelled', 'attempts', 'chats', 'unpriced'] as const;
const UNITS = [
  'pictures',
  'seconds',
  'characters',
  'inputTokens',
  'cachedTokens',
  'outputTokens',
  'runs',
  'gpuSeconds',
] as const;

type Dimension = (typeof DIMENSIONS)[number];

/** GET /usage.csv. */
export const usage: Section = {
  service: 'workflow',
  title: 'Usage',
  routes: [
    route(UsageTotals)({
      method: 'GET',
      path: '/usage.csv',
      summary:
        "What was used and what it cost, as CSV: the caller's own, everybody's for administrators. `by` names columns to group by, with commas between them: day, owner, key, generator, provider, model.",
      extension: true,
      otherTypes: ['text/csv'],
      params: {
        by: query.text({ fallback: USUAL, extension: true }),
        from: query.text(extension),
        to: query.text(extension),
        sandbox: query.boolean(extension),
      },
      headers: { 'Cache-Control': 'no-store' },
      variables: ({ by, from, to, sandbox }) => ({
        by: readDimensions(by).map((name) => upperCase(name)),
        from: readTime('from', from),
        to: readTime('to', to),
        sandbox,
      }),
      reply: () => done('success', null),
      head: (data, { input }) => ({
        headers: { 'Content-Disposition': 'attachment; filename="usage.csv"' },
        page: formatTable(data.usage, readDimensions(input.by)),
        pageType: 'text/csv',
      }),
    }),
  ],
};

function readDimensions(by: string): readonly Dimension[] {
  const names = by.split(',').map((name) => name.trim().toLowerCase());
  const known = names.filter((name) => name !== '').map((name) => DIMENSIONS.find((one) => one === name));
  if (known.includes(undefined))
    throw wrongInput('by', `takes ${DIMENSIONS.join(', ')}, with commas between them`);
  return DIMENSIONS.filter((name) => known.includes(name));
}

function formatTable(totals: readonly UsageTotal[], by: readonly Dimension[]): string {
  const columns = [...by, ...COUNTS, 'cost', 'currency', ...UNITS];
  const rows = totals.map((total) => [
    ...by.map((name) => total[name]),
    ...COUNTS.map((name) => total[name]),
    total.cost.amount,
    total.cost.currency,
    ...UNITS.map((name) => total.cost.units[name]),
  ]);
  return toCsv(columns, rows);
}

function upperCase<Word extends string>(word: Word): Uppercase<Word> {
  return word.toUpperCase() as Uppercase<Word>;
}
