import { createHash } from 'node:crypto';

import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { MOST_COUNTED } from '../../platform/paging.ts';
import { LARGE } from '../../tools/upgrade/statements.ts';
import { graphql, until } from '../kit/clients/requests.ts';
import { migratedDatabase } from '../kit/database/migrated.ts';
import type { TestDatabase } from '../kit/database/postgres.ts';
import { extent } from '../kit/extent.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { listFindings, readName, type Finding } from './findings.ts';
import { fillWithHistory, SHOP, TASKS } from './history.ts';
import { doPeriodicWork } from './periodic.ts';
import { startPlanRelay, type PlanRelay } from './plan-relay.ts';
import { callEverything, readLists, work } from './round.ts';

/**
 * What a Kiln asks its database after months: no statement reads a large table through, or grows with the history in
 * another way. PostgreSQL itself says what each has read.
 */

/** Rows from which a table counts as large here. */
const MANY = extent(10_000, 20_000);

/** Tables that are large elsewhere and hold little here, each with the reason. */
const NOT_FILLED: Readonly<Record<string, string>> = {
  'media.budget_holds': 'holds open work alone',
};

/** Statements that may read much, by their beginnings, each with the reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  'usage.read': 'sums the totals of the days that it is asked for',
  'provider-health.hours': 'counts the attempts of a day once per process, then those of the hours since',
  'budgets.count-spent':
    'sums the totals of a day or month once, when an administrator makes or changes a budget',
  'erase.answers':
    'removes what an old service answered, once when somebody is deleted; lists name them in the middle of a text',
};

/** What must have been asked, so that a round that asks nothing holds nothing. */
const ASKED = [
  'prune.idempotency',
  'prune.events',
  'webhooks.prune',
  'webhooks.untouched',
  'files.mark-expired',
  'shares.prune',
  'passed-rows.next',
  'jobs.without',
  'steps.read-waiting',
  'chat.prune',
  'usage.prune-chats',
  'budgets.hold-running',
  'budgets.count-spent',
  'erase.usage',
  'executions.prune-keys',
  'sign-in.prune-sessions',
  'payments.prune-events',
  'audit.prune',
  'audit.list',
  'tasks.list',
  'tasks.count',
  'tasks.read-shared',
];

let database: TestDatabase;
let relay: PlanRelay;
let kiln: KilnUnderTest;
const asked = new Set<string>();
const findings = new Map<string, Finding>();
const sizes = new Map<string, number>();

beforeAll(
  async () => {
    database = await migratedDatabase();
    const filledFrom = performance.now();
    await fillWithHistory(database.config);
    if (TASKS > 100_000)
      process.stderr.write(`${TASKS} tasks in ${Math.round(performance.now() - filledFrom)} ms\n`);
    const client = new Client(database.config);
    await client.connect();
    const { rows: tables } = await client.query<{ name: string; rows: number }>(
      `select schemaname || '.' || relname as name, n_live_tup::int as rows from pg_stat_user_tables`,
    );
    for (const { name, rows } of tables) sizes.set(name, rows);
    const { rows: failed } = await client.query<{ id: string }>(
      `select id from media.tasks where owner = $1 and state = 'FAILED' order by id desc limit 1`,
      [SHOP],
    );
    await client.end();
    const large = new Set(tables.filter(({ rows }) => rows >= MANY).map(({ name }) => name));
    relay = await startPlanRelay(database, (statement) => {
      asked.add(readName(statement.text));
      for (const finding of listFindings(statement, large)) findings.set(finding.statement, finding);
    });
    kiln = await startKiln({
      database: { connectionString: relay.url, drop: async () => undefined },
      settings: {
        SERVICE_KEYS: `shop=${createHash('sha256').update('kiln_shop').digest('hex')}`,
        TASK_RETENTION_DAYS: '39',
        MEDIA_RETENTION_DAYS: '39',
        PROMPT_RETENTION_DAYS: '35',
        AUDIT_RETENTION_DAYS: '30',
      },
    });
    await kiln.control('latency', { queuedMs: 0, runningMs: 0 });
    const round = {
      url: kiln.url,
      headers: { authorization: 'Bearer kiln_shop' },
      id: failed[0]?.id ?? '',
    };
    await readLists(round);
    await work(round);
    await callEverything(round);
    await doPeriodicWork(kiln.runtime);
    await until(
      async () => ASKED.filter((name) => !asked.has(name)),
      (missing) => missing.length === 0,
      600_000,
    );
  },
  1_200_000 + TASKS * 2,
);
afterAll(async () => {
  await kiln?.close();
  relay?.stop();
  await database?.drop();
});

describe('over a long history', () => {
  it('every table is long that grows with the work', () => {
    const short = [...LARGE].filter((name) => (sizes.get(name) ?? 0) < MANY && !(name in NOT_FILLED));
    expect(short).toEqual([]);
  });

  it('no statement reads a large table through, or more the longer it is', () => {
    const faults = [...findings.values()]
      .filter(({ statement }) => !Object.keys(ALLOWED).some((name) => statement.startsWith(name)))
      .map(({ statement, what, milliseconds }) => `${statement}: ${what} (${milliseconds} ms)`);
    expect(faults).toEqual([]);
  });

  it('lists are counted up to a bound', async () => {
    const asShop = { authorization: 'Bearer kiln_shop' };
    const { data } = await graphql(
      kiln.url,
      '{ tasks { totalCount } medias { totalCount } executions { totalCount } }',
      {},
      asShop,
    );
    const total = { totalCount: MOST_COUNTED + 1 };
    expect(data).toEqual({ tasks: total, medias: total, executions: total });
  });

  it('what may read much is still asked', () => {
    const gone = Object.keys(ALLOWED).filter((name) => ![...asked].some((one) => one.startsWith(name)));
    expect(gone).toEqual([]);
  });
});
