import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { Migration } from 'kysely/migration';
import { describe, expect, test } from 'vitest';

import { gatewayMigrations } from '../../gateway/migrations/index.ts';
import { auditMigrations } from '../../platform/audit/migrations.ts';
import { queueMigrations } from '../../platform/queue/migrations.ts';
import { mediaMigrations } from '../../subgraphs/media/database/migrations/index.ts';
import { workflowMigrations } from '../../subgraphs/workflow/database/migrations/index.ts';
import { findDangers, tablesMadeBy } from './statements.ts';

/**
 * A release replaces the one before it while that goes on working: its migrations only add. What is no longer used is taken
 * away by the release after the one that stopped using it (CONTRIBUTING.md, "Migrations").
 */

/** The last migrations from before this rule. */
const BEFORE_THE_RULE: Readonly<Record<string, string>> = {
  media: '0022-sold-tasks',
  workflow: '0012-sold-executions',
  gateway: '0003-copies-of-results',
  audit: '0001-entries',
};

/**
 * Migrations that do more than add, by `schema/name`, each with the reason why that is right. `processes of before` says
 * what the previous release's do: they go on working, or (only with `-needs-NNNN` in the name) they do not start.
 */
const MORE_THAN_ADDING: Readonly<
  Record<string, { readonly reason: string; readonly 'processes of before': 'go on' | 'are refused' }>
> = {};

const SETS: Readonly<Record<string, Readonly<Record<string, Migration>>>> = {
  media: mediaMigrations.migrations,
  workflow: workflowMigrations.migrations,
  gateway: gatewayMigrations,
  queue: queueMigrations.migrations,
  audit: auditMigrations.migrations,
};

const migrations = Object.entries(SETS).flatMap(([schema, set]) =>
  Object.entries(set).map(([name, migration]) => ({ schema, name, migration, id: `${schema}/${name}` })),
);
const isNew = ({ schema, name }: { readonly schema: string; readonly name: string }) =>
  name > (BEFORE_THE_RULE[schema] ?? '');

/** The SQL of a migration, without a database. */
async function recordStatements(migration: Migration): Promise<string[]> {
  const statements: string[] = [];
  const database = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => void statements.push(query.sql),
  });
  await migration.up(database);
  return statements;
}

describe('migrations', () => {
  test('of new releases only add, but for those with a reason', async () => {
    const found: string[] = [];
    for (const each of migrations.filter(isNew)) {
      if (each.id in MORE_THAN_ADDING) continue;
      const statements = await recordStatements(each.migration);
      const made = tablesMadeBy(statements);
      for (const one of statements)
        found.push(...findDangers(one, made).map((why) => `${each.id}: ${why}: ${one}`));
    }
    expect(found).toEqual([]);
  });

  test('that do more are there, and named for what they do to processes of before', () => {
    const ids = new Set(migrations.map(({ id }) => id));
    for (const [id, { reason, 'processes of before': before }] of Object.entries(MORE_THAN_ADDING)) {
      expect(ids).toContain(id);
      expect(reason.length).toBeGreaterThan(30);
      expect(/-needs-\d+$/.test(id)).toBe(before === 'are refused');
    }
    const named = migrations.filter(({ name }) => name.includes('-needs-')).map(({ id }) => id);
    expect(named.filter((id) => !(id in MORE_THAN_ADDING))).toEqual([]);
  });

  test('need one that is there, from an earlier release', () => {
    for (const { schema, name } of migrations) {
      const needed = /-needs-(\d+)$/.exec(name)?.[1];
      if (needed === undefined) continue;
      expect(
        Object.keys(SETS[schema] ?? {}).some((other) => other.startsWith(`${needed}-`) && other < name),
      ).toBe(true);
    }
  });

  test('are known by their SQL', async () => {
    const counts = await Promise.all(
      migrations.map(async ({ migration }) => (await recordStatements(migration)).length),
    );
    expect(counts.every((count) => count > 0)).toBe(true);
  });
});

describe('the rule', () => {
  const refused = [
    'drop table media.tasks',
    'drop index media.tasks_of_owner',
    'alter table media.tasks drop column stage',
    'alter table media.tasks rename column stage to step',
    'alter table media.tasks alter column stage type jsonb',
    'alter table media.tasks alter column error set not null',
    'alter table media.tasks add column more text not null',
    'alter table media.tasks add column price numeric(10, 2) not null, add column other text',
    'alter table media.tasks add column more uuid not null default gen_random_uuid()',
    'alter table media.tasks add constraint fits check (progress < 10)',
    'alter table media.media add foreign key (task_id) references media.tasks (id)',
    'alter table media.tasks add column code text unique',
    'create index tasks_more on media.tasks (stage)',
    'CREATE  UNIQUE INDEX more\n ON media.paused_bindings (reason)',
    'update media.tasks set stage = null',
    'truncate media.tasks',
    'lock table media.tasks',
  ];
  test.each(refused)('refuses %s', (statement) => {
    expect(findDangers(statement, new Set())).not.toEqual([]);
  });

  const taken = [
    'create table media.more (id uuid primary key, name text not null)',
    'create index more_by_name on media.more (name)',
    'alter table media.tasks add column more text',
    `alter table media.tasks add column more text not null default '', add column other integer not null default 0`,
    'alter table media.tasks add constraint fits check (progress < 10) not valid',
    'alter table media.tasks alter column error drop not null',
    'create index paused on media.paused_bindings (paused_at)',
    `update media.paused_bindings set reason = ''`,
  ];
  test.each(taken)('takes %s', (statement) => {
    expect(findDangers(statement, new Set())).toEqual([]);
  });

  test('lets a migration do to its own new table what it likes', () => {
    const statements = [
      'create table media.more (id uuid)',
      'alter table media.more alter column id set not null',
    ];
    expect(findDangers(statements[1] ?? '', tablesMadeBy(statements))).toEqual([]);
  });
});
