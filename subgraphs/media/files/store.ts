import { sql, type Kysely, type Selectable, type Transaction } from 'kysely';

import type { Measures } from '../../../platform/object-store/measure/measurable.ts';
import type { StoredObject } from '../../../platform/object-store/object-store.ts';
import type { AnyTransaction } from '../../../platform/queue/queue.ts';
import type { FileTables, MediaTable } from '../database/file-tables.ts';
import type { MakingTask, StoredFile } from './files.ts';

/**
 * SQL of files. A row is written before the bytes and removed after them: when a process dies, a row is left that the
 * pruner finds, never bytes without a row.
 */
export interface FileRow {
  readonly file: StoredFile;
  /** Where its bytes are in the object store. */
  readonly objectKey: string;
  /** Of the token that deletes it. */
  readonly manageTokenHash: string | null;
}

/** A row as it is written before the first byte. */
export interface NewRow {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly objectKey: string;
  /** When the pruner removes it, if it is not complete by then. */
  readonly temporaryUntil: Date;
  readonly manageTokenHash: string | null;
}

/** What is known once all bytes are stored. */
export interface StoredFacts {
  readonly object: StoredObject;
  readonly measures: Measures;
  /** Null: the file stays. */
  readonly temporaryUntil: Date | null;
}

/** Inserts a file before its bytes. It is not visible yet. */
export async function insertFile(database: Kysely<FileTables>, row: NewRow): Promise<void> {
  await database
    .insertInto('media.media')
    .values({
      id: row.id,
      owner: row.owner,
      name: row.name,
      object_key: row.objectKey,
      content_type: 'application/octet-stream',
      bytes: 0,
      sha256: '',
      state: 'INCOMING',
      temporary_until: row.temporaryUntil,
      manage_token_hash: row.manageTokenHash,
    })
    .execute();
}

/** Makes a file visible once its bytes are stored. Null when the pruner was faster. */
export async function completeFile(
  database: Kysely<FileTables>,
  id: string,
  { object, measures, temporaryUntil }: StoredFacts,
): Promise<StoredFile | null> {
  const row = await database
    .updateTable('media.media')
    .set({
      state: 'STORED',
      content_type: measures.contentType,
      bytes: object.bytes,
      sha256: object.sha256,
      width: measures.width,
      height: measures.height,
      duration: measures.duration,
      temporary_until: temporaryUntil,
    })
    .where('id', '=', id)
    .where('state', '=', 'INCOMING')
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? null : fileOf(row);
}

/** The files of these ids that exist, in no order. */
export async function readFiles(
  database: Kysely<FileTables>,
  ids: readonly string[],
): Promise<readonly FileRow[]> {
  if (ids.length === 0) return [];
  const rows = await database
    .selectFrom('media.media')
    .selectAll()
    .where(isOneOf(ids))
    .where('state', '=', 'STORED')
    .execute();
  return rows.map((row) => ({
    file: fileOf(row),
    objectKey: row.object_key,
    manageTokenHash: row.manage_token_hash,
  }));
}

/** Makes the files of an owner permanent; answers how many of the ids exist, of whomever. */
export async function claimFiles(
  transaction: AnyTransaction,
  ids: readonly string[],
  owner: string,
): Promise<number> {
  const { numUpdatedRows } = await (transaction as Transaction<FileTables>)
    .updateTable('media.media')
    .set({
      temporary_until: sql<Date | null>`case when owner = ${owner} then null else temporary_until end`,
    })
    .where(isOneOf(ids))
    .where('state', '=', 'STORED')
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Makes files permanent as those of the task that made them; answers how many of the ids exist. */
export async function attachFiles(
  transaction: AnyTransaction,
  ids: readonly string[],
  task: MakingTask,
): Promise<number> {
  const { numUpdatedRows } = await (transaction as Transaction<FileTables>)
    .updateTable('media.media')
    .set({
      temporary_until: null,
      task_id: task.id,
      manage_token_hash: task.manageTokenHash,
    })
    .where(isOneOf(ids))
    .where('state', '=', 'STORED')
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Marks a file as deleted; its bytes follow. False when it was marked already. */
export async function markDeleted(database: Kysely<FileTables>, id: string): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable('media.media')
    .set({ state: 'DELETED' })
    .where('id', '=', id)
    .where('state', '!=', 'DELETED')
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

/** Forgets a hidden file, once its bytes are gone. */
export async function deleteFileRow(database: Kysely<FileTables>, id: string): Promise<void> {
  await database.deleteFrom('media.media').where('id', '=', id).where('state', '=', 'DELETED').execute();
}

/**
 * Marks expired files as deleted; answers every marked file whose bytes are still to be removed. Rows that another
 * pruner or a claiming transaction has locked are skipped.
 */
export async function markExpired(
  database: Kysely<FileTables>,
  { now, keptSince, limit }: { readonly now: Date; readonly keptSince: Date | null; readonly limit: number },
): Promise<readonly { readonly id: string; readonly objectKey: string }[]> {
  const rows = await database
    .updateTable('media.media')
    .set({ state: 'DELETED' })
    .where('id', 'in', (expired) =>
      expired
        .selectFrom('media.media')
        .select('id')
        .where((is) =>
          is.or([
            is('state', '=', 'DELETED'),
            is('temporary_until', '<', now),
            ...(keptSince === null ? [] : [is('created_at', '<', keptSince)]),
          ]),
        )
        .orderBy('id')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'object_key'])
    .execute();
  return rows.map(({ id, object_key: objectKey }) => ({ id, objectKey }));
}

/** One parameter for any number of ids, so that PostgreSQL keeps one plan. */
function isOneOf(ids: readonly string[]) {
  return sql<boolean>`id = any(${[...ids]}::uuid[])`;
}

/** The file of a row. */
export function fileOf(row: Selectable<MediaTable>): StoredFile {
  return {
    id: row.id,
    owner: row.owner,
    name: row.name,
    contentType: row.content_type,
    bytes: row.bytes,
    sha256: row.sha256,
    width: row.width,
    height: row.height,
    duration: row.duration,
    taskId: row.task_id,
    createdAt: row.created_at,
  };
}
