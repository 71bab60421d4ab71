import { sql } from 'kysely';

import { listedOwner, type Caller } from '../../../platform/access/caller.ts';
import { isUuid } from '../../../platform/ids.ts';
import { MOST_COUNTED } from '../../../platform/paging.ts';
import type { MediaDatabase } from '../database/database.ts';
import { containsText, usesModel } from '../database/expressions.ts';
import type { FileFilter, FilePage, MediaKind } from './files.ts';
import { fileColumns } from './store.ts';

/** Lists of files: those that a caller may list, filtered by what they are and by the task that made them. */

interface PageRequest {
  readonly first: number;
  readonly after: string | null;
}

/** One page, newest first (ids are ordered by time). */
export async function listFiles(
  database: MediaDatabase,
  caller: Caller,
  { filter, first, after }: PageRequest & { readonly filter: FileFilter },
): Promise<FilePage> {
  if (caller.kind === 'anonymous') return { files: [], hasNextPage: false, count: async () => 0 };
  const listed = { owner: listedOwner(caller), filter, by: caller.id };
  const query = listedFiles(database, listed)
    .select(fileColumns)
    .orderBy('id', 'desc')
    .limit(first + 1);
  const rows = await (after === null ? query : query.where('id', '<', after)).execute();
  return {
    files: rows.slice(0, first),
    hasNextPage: rows.length > first,
    count: async () => {
      const counted = listedFiles(database, listed)
        .select('id')
        .orderBy('id', 'desc')
        .limit(MOST_COUNTED + 1);
      const total = sql<number>`count(*)::int`.as('total');
      return (await database.selectFrom(counted.as('counted')).select(total).executeTakeFirstOrThrow()).total;
    },
  };
}

interface Listed {
  readonly owner: string | null;
  readonly filter: FileFilter;
  /** Id of the caller, whose stars count. */
  readonly by: string;
}

function listedFiles(database: MediaDatabase, { owner, filter, by }: Listed) {
  const { kinds, board, starred, createdAfter, createdBefore } = filter;
  let query = database
    .selectFrom('media.media')
    .where('state', '=', 'STORED')
    .where('temporaryUntil', 'is', null)
    .where('listed', '=', true);
  if (owner !== null) query = query.where('owner', '=', owner);
  if (filter.owner !== undefined) query = query.where('owner', '=', filter.owner);
  if (kinds !== undefined) query = query.where(isOfKind(kinds));
  if (board !== undefined) query = query.where(isOnBoard(board, owner));
  if (starred !== undefined) query = query.where(isStarred(by, starred));
  if (createdAfter !== undefined) query = query.where('createdAt', '>', createdAfter);
  if (createdBefore !== undefined) query = query.where('createdAt', '<', createdBefore);
  const ofTask = taskConditions(filter);
  return ofTask.length === 0 ? query : query.where(madeByTask(ofTask));
}

function taskConditions({ generator, model, text }: FileFilter) {
  return [
    ...(generator === undefined ? [] : [sql<boolean>`tasks.generator = ${generator}`]),
    ...(model === undefined ? [] : [usesModel(model)]),
    ...(text === undefined ? [] : [containsText(text)]),
  ];
}

function madeByTask(conditions: ReturnType<typeof taskConditions>) {
  return sql<boolean>`exists (select 1 from media.tasks
    where tasks.id = media.task_id and ${sql.join(conditions, sql` and `)})`;
}

/** On a board of this owner, of whomever for null; nothing is on what is no board. */
function isOnBoard(board: string, owner: string | null) {
  return sql<boolean>`exists (select 1 from media.board_items item join media.boards board on board.id = item.board_id
    where item.media_id = media.id and board.id = ${isUuid(board) ? board : null} and (board.owner = ${owner} or ${owner === null}))`;
}

function isStarred(by: string, starred: boolean) {
  return sql<boolean>`exists (select 1 from media.stars where stars.media_id = media.id and stars.owner = ${by}) = ${starred}`;
}

function isOfKind(kinds: readonly MediaKind[]) {
  return sql<boolean>`(case split_part(content_type, '/', 1)
    when 'image' then 'IMAGE' when 'video' then 'VIDEO' when 'audio' then 'AUDIO' else 'OTHER'
    end = any(${[...kinds]}::text[]))`;
}
