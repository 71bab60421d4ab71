import { sql, type Selectable } from 'kysely';

import { jsonText } from '../../../../platform/json.ts';
import type { MediaDatabase } from '../../database/database.ts';
import type { DB } from '../../database/tables.ts';
import { optionsSchema } from '../../domain/inputs/vendor-options/schema.ts';
import { catalogEntry, type CatalogEntry } from '../catalog/entry.ts';

/** Descriptions of models in the database, for every process. */

/** A model of an upstream, and when its vendor described it. */
export interface FetchedModel {
  /** As identifyUpstream says it. */
  readonly upstream: string;
  readonly entry: CatalogEntry;
  readonly fetchedAt: Date;
  /** Whether it is to be read again before it is used next. */
  readonly stale: boolean;
}

/** Most descriptions; the oldest make room. */
const MAX_MODELS = 500;

/** Every description, the newest first. What an older release has written otherwise is left out. */
export async function readModels(database: MediaDatabase): Promise<readonly FetchedModel[]> {
  const rows = await database
    .selectFrom('media.fetchedModels')
    .selectAll()
    .orderBy('fetchedAt', 'desc')
    .limit(MAX_MODELS)
    .execute();
  return rows.flatMap((row) => toModel(row) ?? []);
}

/** One description; null: there is none. */
export async function readModel(
  database: MediaDatabase,
  { upstream, name }: { readonly upstream: string; readonly name: string },
): Promise<FetchedModel | null> {
  const row = await database
    .selectFrom('media.fetchedModels')
    .selectAll()
    .where('upstream', '=', upstream)
    .where('model', '=', name)
    .executeTakeFirst();
  return row === undefined ? null : toModel(row);
}

function toModel({
  upstream,
  entry: written,
  fetchedAt,
  stale,
}: Selectable<DB['media.fetchedModels']>): FetchedModel | null {
  const entry = catalogEntry.safeParse(written).data;
  const options = optionsSchema.safeParse(entry?.options).data;
  if (entry === undefined || options === undefined) return null;
  return { upstream, entry: { ...entry, options }, fetchedAt, stale };
}

/** Keeps a description. */
export async function keepModel(
  database: MediaDatabase,
  { upstream, entry }: Pick<FetchedModel, 'upstream' | 'entry'>,
): Promise<void> {
  const values = {
    entry: sql<string>`${jsonText(entry)}::json`,
    fetchedAt: sql<Date>`now()`,
    stale: false,
  };
  await database
    .insertInto('media.fetchedModels')
    .values({ upstream, model: entry.id, ...values })
    .onConflict((conflict) => conflict.columns(['upstream', 'model']).doUpdateSet(values))
    .execute();
  const kept = database
    .selectFrom('media.fetchedModels')
    .select('fetchedAt')
    .orderBy('fetchedAt', 'desc')
    .offset(MAX_MODELS)
    .limit(1);
  await database.deleteFrom('media.fetchedModels').where('fetchedAt', '<=', kept).execute();
}

/** Has a description read again before it is used next. */
export async function markStale(database: MediaDatabase, upstream: string, model: string): Promise<void> {
  await database
    .updateTable('media.fetchedModels')
    .set({ stale: true })
    .where('upstream', '=', upstream)
    .where('model', '=', model)
    .execute();
}
