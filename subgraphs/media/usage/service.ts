import { type RawBuilder, sql } from 'kysely';

import type { Caller } from '../../../platform/access/caller.ts';
import { type AuthMode, decide } from '../../../platform/access/policy.ts';
import { badInput } from '../../../platform/errors.ts';
import { lateMediaReads, type LateMediaReads, type MediaDatabase } from '../database/database.ts';
import { unitNames } from '../domain/cost.ts';
import type { UsageDimension, UsageRow, UsageService } from './usage.ts';

const DAY_MS = 86_400_000;
const USUAL_DAYS = 30;
const MAX_DAYS = 366;
/** What can be asked for: a day has a year of four digits, and PostgreSQL has none of the year 0. */
const FIRST_DAY = Date.parse('0001-01-01T00:00:00Z');
const LAST_DAY = Date.parse('9999-12-31T23:59:59Z');
/** Most rows of one answer; a question by day and everything else may have more. */
const MAX_ROWS = 10_000;

/** Makes the service over the totals that ends of tasks have written. */
export function createUsageService(options: {
  readonly database: MediaDatabase;
  /** Where totals are read (default: the database itself). */
  readonly readLate?: LateMediaReads | undefined;
  readonly authMode: AuthMode;
}): UsageService {
  const { database, readLate = lateMediaReads(database, undefined), authMode } = options;
  return {
    async usage(caller, { by, from, to, sandbox = null }): Promise<readonly UsageRow[]> {
      const last = to ?? new Date();
      const first = from ?? new Date(last.getTime() - (USUAL_DAYS - 1) * DAY_MS);
      if (first.getTime() < FIRST_DAY) throw badInput('from', 'must not be before the year 1');
      if (last.getTime() > LAST_DAY) throw badInput('to', 'must not be after the year 9999');
      if (first > last) throw badInput('from', 'must not be after to');
      if (last.getTime() - first.getTime() > MAX_DAYS * DAY_MS)
        throw badInput('from', `must be at most ${MAX_DAYS} days before to`);
      const whose = chooseOwner(caller, authMode);
      if (whose === 'nobody') return [];
      const range = { from: formatDay(first), to: formatDay(last) };
      const wanted = { by, ...range, owner: whose.owner, sandbox, limit: MAX_ROWS + 1 };
      const rows = await readLate((at) => readUsage(at, wanted));
      if (rows.length > MAX_ROWS)
        throw badInput('by', `gives more than ${MAX_ROWS} rows: ask for fewer days, or by less`);
      return rows;
    },
  };
}

/** Everybody's for administrators, and for everybody in open mode; else the caller's own. */
function chooseOwner(caller: Caller, authMode: AuthMode): { readonly owner: string | null } | 'nobody' {
  if (decide('admin', caller, authMode) === 'allow') return { owner: null };
  return caller.kind === 'anonymous' ? 'nobody' : { owner: caller.id };
}

const formatDay = (moment: Date): string => moment.toISOString().slice(0, 10);

/** SQL of the totals of usage. They are written where tasks end (tasks/storage/usage-store.ts). */

const DIMENSIONS: Readonly<Record<UsageDimension, RawBuilder<unknown>>> = {
  DAY: sql`to_char(day, 'YYYY-MM-DD')`,
  MODEL: sql`nullif(model, '')`,
  GENERATOR: sql`generator`,
  PROVIDER: sql`nullif(provider, '')`,
  OWNER: sql`nullif(owner, 'anon')`,
  KEY: sql`case when owner like 'key\\_%' then owner end`,
};

/** Names of the dimensions in the rows. */
const NAMES = {
  DAY: 'day',
  MODEL: 'model',
  GENERATOR: 'generator',
  PROVIDER: 'provider',
  OWNER: 'owner',
  KEY: 'key',
} as const satisfies Record<UsageDimension, string>;

/** Every column that is summed. */
const SUMS = [
  'tasksSucceeded',
  'tasksFailed',
  'tasksCancelled',
  'attemptsSucceeded',
  'attemptsFailed',
  'chats',
  'unpriced',
  'cost',
  ...unitNames,
] as const;

interface UsageQuery {
  readonly by: readonly UsageDimension[];
  /** First and last day, YYYY-MM-DD in UTC. */
  readonly from: string;
  readonly to: string;
  /** Null: everybody's. */
  readonly owner: string | null;
  /** Null: real and sandbox together. */
  readonly sandbox: boolean | null;
  readonly limit: number;
}

type Row = Readonly<Record<(typeof SUMS)[number], number>> &
  Readonly<Partial<Record<(typeof NAMES)[UsageDimension], string | null>>> & {
    readonly currency: string | null;
  };

/**
 * The totals of each group, in the order of the groups. Amounts of different currencies are not added up: a group that has
 * several is several rows. What has no currency (ends of tasks, unknown prices) counts with the last of them.
 */
async function readUsage(database: MediaDatabase, query: UsageQuery): Promise<readonly UsageRow[]> {
  const by = [...new Set(query.by)];
  const groups = by.map((name) => sql`${DIMENSIONS[name]} as ${sql.ref(NAMES[name])}`);
  const sums = SUMS.map((name) => sql`sum(${sql.ref(name)})::bigint as ${sql.ref(name)}`);
  const names = by.map((name) => sql.ref(NAMES[name]));
  const partition = names.length === 0 ? sql`` : sql`partition by ${sql.join(names)}`;
  const places = [...names, sql.ref('currency')].map((_, index) => sql.lit(index + 1));
  const { rows } = await sql<Row>`/* usage.read */
    with chosen as (
      select ${sql.join([...groups, sql`nullif(currency, '') as currency`])}, ${sql.join(SUMS.map((name) => sql.ref(name)))}
      from media.usage
      where day between ${query.from}::date and ${query.to}::date
        and (${query.owner}::text is null or owner = ${query.owner})
        and (${query.sandbox}::boolean is null or sandbox = ${query.sandbox})
    ), named as (
      select *, coalesce(currency, max(currency) over (${partition})) as charged_in from chosen
    )
    select ${sql.join([...names, sql`charged_in as currency`, ...sums])} from named
    group by ${sql.join(places)} order by ${sql.join(places)}
    limit ${query.limit}`.execute(database);
  return rows.map(toUsage);
}

function toUsage(row: Row): UsageRow {
  return {
    day: row.day ?? null,
    model: row.model ?? null,
    generator: row.generator ?? null,
    provider: row.provider ?? null,
    owner: row.owner ?? null,
    key: row.key ?? null,
    succeeded: row.tasksSucceeded,
    failed: row.tasksFailed,
    cancelled: row.tasksCancelled,
    attempts: row.attemptsSucceeded + row.attemptsFailed,
    chats: row.chats,
    unpriced: row.unpriced,
    microUnits:
      row.unpriced > 0 && row.unpriced >= row.attemptsSucceeded + row.attemptsFailed + row.chats
        ? null
        : row.cost,
    currency: row.currency,
    units: {
      pictures: row.pictures,
      milliseconds: row.milliseconds,
      characters: row.characters,
      inputTokens: row.inputTokens,
      cachedTokens: row.cachedTokens,
      outputTokens: row.outputTokens,
      runs: row.runs,
      gpuMilliseconds: row.gpuMilliseconds,
    },
  };
}
