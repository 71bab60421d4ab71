import { type Selectable, sql } from 'kysely';

import { lockTransaction } from '../../../../platform/database/advisory-lock.ts';
import { jsonText } from '../../../../platform/json.ts';
import type { MediaDatabase } from '../../database/database.ts';
import type { DB } from '../../database/tables.ts';
import type { Graph } from '../comfy-workflows.ts';
import type { Parameter, WorkflowOutput, WorkflowVersion } from './workflow.ts';

/** SQL of saved graphs; no rules here. */

/** A saved graph without its versions. */
export type WorkflowRow = Selectable<DB['media.workflows']>;

/** A version that is to be added, and what the graph is known by from then on. */
export interface NewVersion extends Omit<WorkflowVersion, 'number' | 'createdAt'> {
  readonly name: string;
  readonly owner: string;
  readonly description: string;
  readonly category: string;
}

/** Most graphs of one owner, and most versions of a graph. */
export const MAX_OF_OWNER = 200;
export const MAX_VERSIONS = 100;

/** How adding a version went. */
export type Added = 'added' | 'taken' | 'too-many' | 'too-many-versions';

/** Adds a version; `mayChange` says whether the saver may add to a graph of this owner. */
export async function addVersion(
  database: MediaDatabase,
  version: NewVersion,
  mayChange: (owner: string) => boolean,
): Promise<Added> {
  const { name, owner, description, category } = version;
  return database
    .transaction()
    .execute(async (transaction): Promise<Added> => {
      // Whoever counts at the same time counts this one too.
      await lockTransaction(transaction, `media.workflows ${owner}`);
      const facts = { description, category, updatedAt: new Date() };
      const row = await transaction
        .insertInto('media.workflows')
        .values({ name, owner, newest: 1, ...facts })
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet({ ...facts, newest: sql<number>`workflows.newest + 1` }),
        )
        .returning(['owner', 'newest'])
        .executeTakeFirstOrThrow();
      const refusal = await toRefusal(transaction, row, { owner, mayChange });
      if (refusal !== null) throw new Refused(refusal);
      await transaction
        .insertInto('media.workflowVersions')
        .values({
          name,
          number: row.newest,
          graph: toJson(version.graph),
          inputs: toJson(version.inputs),
          outputs: toJson(version.outputs),
        })
        .execute();
      return 'added';
    })
    .catch((error: unknown) => {
      if (error instanceof Refused) return error.reason;
      throw error;
    });
}

/** Takes the transaction back. */
class Refused extends Error {
  readonly reason: Added;
  constructor(reason: Added) {
    super(reason);
    this.reason = reason;
  }
}

async function toRefusal(
  database: MediaDatabase,
  row: Pick<WorkflowRow, 'owner' | 'newest'>,
  { owner, mayChange }: { readonly owner: string; readonly mayChange: (owner: string) => boolean },
): Promise<Added | null> {
  if (row.newest > 1 && !mayChange(row.owner)) return 'taken';
  if (row.newest > MAX_VERSIONS) return 'too-many-versions';
  const { count } = await database
    .selectFrom('media.workflows')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('owner', '=', owner)
    .executeTakeFirstOrThrow();
  return Number(count) > MAX_OF_OWNER ? 'too-many' : null;
}

function toJson(value: unknown) {
  return sql<string>`${jsonText(value)}::json`;
}

/** Sets which version everybody runs; what was published before is kept for a roll-back. False: there is no such version. */
export async function setPublished(
  database: MediaDatabase,
  name: string,
  version: number | null,
): Promise<boolean> {
  const { numAffectedRows } = await sql`/* workflows.publish */ update media.workflows set
      previous = case when published is distinct from ${version} and published is not null then published else previous end,
      published = ${version}, updated_at = now()
    where name = ${name} and (${version}::int is null or exists (
      select from media.workflow_versions where name = ${name} and number = ${version}))`.execute(database);
  return (numAffectedRows ?? 0n) > 0n;
}

/** Removes a graph with its versions. */
export async function removeWorkflow(database: MediaDatabase, name: string): Promise<void> {
  await database.deleteFrom('media.workflows').where('name', '=', name).execute();
}

/** One by its name. */
export async function readWorkflow(database: MediaDatabase, name: string): Promise<WorkflowRow | null> {
  const row = await database
    .selectFrom('media.workflows')
    .selectAll()
    .where('name', '=', name)
    .executeTakeFirst();
  return row ?? null;
}

/** Those of an owner (null: of everybody) and the published ones, by name. */
export async function readWorkflows(
  database: MediaDatabase,
  owner: string | null,
  { first, after }: { readonly first: number; readonly after: string },
): Promise<readonly WorkflowRow[]> {
  return database
    .selectFrom('media.workflows')
    .selectAll()
    .where('name', '>', after)
    .where((where) =>
      owner === null
        ? where.lit(true)
        : where.or([where('owner', '=', owner), where('published', 'is not', null)]),
    )
    .orderBy('name')
    .limit(first)
    .execute();
}

/** The published ones with the version that is. */
export async function readPublished(
  database: MediaDatabase,
  limit: number,
): Promise<readonly (WorkflowRow & { readonly version: WorkflowVersion })[]> {
  const rows = await database
    .selectFrom('media.workflows')
    .selectAll()
    .where('published', 'is not', null)
    .orderBy('name')
    .limit(limit)
    .execute();
  const versions = await readVersions(
    database,
    rows.map(({ name, published }) => ({ name, number: published })),
  );
  return rows.flatMap((row) => {
    const version = versions.find(({ name }) => name === row.name);
    return version === undefined ? [] : [{ ...row, version }];
  });
}

/** Versions of graphs; without a number all of each, newest first. */
export async function readVersions(
  database: MediaDatabase,
  wanted: readonly { readonly name: string; readonly number: number | null }[],
): Promise<readonly (WorkflowVersion & { readonly name: string })[]> {
  if (wanted.length === 0) return [];
  const rows = await database
    .selectFrom('media.workflowVersions')
    .selectAll()
    .where((where) =>
      where.or(
        wanted.map(({ name, number }) =>
          number === null
            ? where('name', '=', name)
            : where.and([where('name', '=', name), where('number', '=', number)]),
        ),
      ),
    )
    .orderBy('name')
    .orderBy('number', 'desc')
    .execute();
  return rows.map(({ graph, inputs, outputs, ...row }) => ({
    ...row,
    graph: graph as unknown as Graph,
    inputs: inputs as unknown as readonly Parameter[],
    outputs: outputs as unknown as readonly WorkflowOutput[],
  }));
}
