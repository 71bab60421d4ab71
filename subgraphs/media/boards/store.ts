import { sql } from 'kysely';

import { lockTransaction } from '../../../platform/database/advisory-lock.ts';
import { AppError, badInput, notFound } from '../../../platform/errors.ts';
import type { MediaDatabase } from '../database/database.ts';
import { type BoardService, MOST_BOARDS, MOST_FILES, type SharedFile } from './boards.ts';

/** A row of a board with what is counted of it. */
export interface BoardRow {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly shareId: string | null;
  readonly shareEndsAt: Date | null;
  readonly count: number;
  readonly coverId: string | null;
}

/** Boards that fulfil a condition, the oldest first, with how many listed files they have and the last of these. */
export function selectBoards(database: Pick<MediaDatabase, 'selectFrom'>) {
  return database
    .selectFrom('media.boards as board')
    .select(['board.id', 'board.owner', 'board.name', 'board.createdAt', 'shareId', 'shareEndsAt'])
    .select(
      sql<number>`(select count(*)::int from media.board_items item join media.media file on file.id = item.media_id
        where item.board_id = board.id and file.state = 'STORED')`.as('count'),
    )
    .select(
      sql<
        string | null
      >`(select item.media_id from media.board_items item join media.media file on file.id = item.media_id
        where item.board_id = board.id and file.state = 'STORED'
        order by item.added_at desc, item.media_id desc limit 1)`.as('coverId'),
    )
    .orderBy('board.id');
}

/**
 * Writes a new board; BAD_USER_INPUT where its owner has as many as there may be. Those of one owner are made one after
 * the other, so that several at once can't pass that together.
 */
export async function insertBoard(
  database: MediaDatabase,
  board: Pick<BoardRow, 'id' | 'owner' | 'name'>,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await lockTransaction(transaction, `media.boards ${board.owner}`);
    const { count } = await transaction
      .selectFrom('media.boards')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('owner', '=', board.owner)
      .executeTakeFirstOrThrow();
    if (count >= MOST_BOARDS)
      throw badInput('name', `there may be ${MOST_BOARDS} boards: delete one (deleteBoard)`);
    await transaction.insertInto('media.boards').values(board).execute();
  });
}

/**
 * Puts those of the files on a board that belong to its owner. With `from`, they leave that board. NOT_FOUND when the
 * board is gone; BAD_USER_INPUT, and nothing is done, where it has no room for those that are not on it yet. Answers the
 * board as it is then.
 */
export async function insertItems(
  database: MediaDatabase,
  id: string,
  { ids, from }: { readonly ids: readonly string[]; readonly from: string | null },
): Promise<BoardRow> {
  return database.transaction().execute(async (transaction) => {
    const board = await transaction
      .selectFrom('media.boards')
      .select('owner')
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst();
    if (board === undefined) throw notFound('board', id);
    const { numAffectedRows = 0n } =
      await sql`/* boards.put */ insert into media.board_items (board_id, media_id)
      select ${id}::uuid, id from media.media
      where id = any(${[...ids]}::uuid[]) and owner = ${board.owner} and state = 'STORED'
      on conflict do nothing`.execute(transaction);
    const now = await selectBoards(transaction).where('board.id', '=', id).executeTakeFirstOrThrow();
    if (numAffectedRows > 0n && now.count > MOST_FILES)
      throw badInput('mediaIds', `a board holds ${MOST_FILES} files: take some from it, or use another one`);
    if (from !== null) await deleteItems(transaction, from, ids);
    return now;
  });
}

/** Takes files from a board. */
export async function deleteItems(
  database: Pick<MediaDatabase, 'deleteFrom'>,
  boardId: string,
  ids: readonly string[],
): Promise<void> {
  await database
    .deleteFrom('media.boardItems')
    .where('boardId', '=', boardId)
    .where(sql<boolean>`media_id = any(${[...ids]}::uuid[])`)
    .execute();
}

/** The files on a board, the last one that was put there first. */
export async function filesOnBoard(
  database: MediaDatabase,
  boardId: string,
  most: number,
): Promise<readonly (Omit<SharedFile, 'url'> & { readonly id: string })[]> {
  return database
    .selectFrom('media.boardItems as item')
    .innerJoin('media.media as file', 'file.id', 'item.mediaId')
    .select(['file.id', 'file.name', 'contentType', 'width', 'height', 'duration'])
    .where('boardId', '=', boardId)
    .where('file.state', '=', 'STORED')
    .orderBy('addedAt', 'desc')
    .orderBy('file.id', 'desc')
    .limit(most)
    .execute();
}

/** Stars on files of the caller's own. */
export function createStars(
  database: MediaDatabase,
  checkedIds: (ids: readonly string[]) => readonly string[],
): Pick<BoardService, 'star' | 'starred'> {
  return {
    async star(caller, ids, isStarred) {
      if (caller.kind === 'anonymous')
        throw new AppError('UNAUTHENTICATED', 'stars belong to somebody: sign in first');
      const wanted = checkedIds(ids);
      const { rows } = isStarred
        ? await sql<{ mediaId: string }>`/* stars.add */ with wanted as (
            select id from media.media where id = any(${[...wanted]}::uuid[]) and owner = ${caller.id} and state = 'STORED'),
          added as (insert into media.stars (owner, media_id) select ${caller.id}, id from wanted on conflict do nothing)
          select id as media_id from wanted`.execute(database)
        : await sql<{ mediaId: string }>`/* stars.remove */ delete from media.stars
            where owner = ${caller.id} and media_id = any(${[...wanted]}::uuid[]) returning media_id`.execute(
            database,
          );
      return rows.map(({ mediaId }) => mediaId);
    },
    async starred(caller, ids) {
      if (caller.kind === 'anonymous') return ids.map(() => false);
      const rows = await database
        .selectFrom('media.stars')
        .select('mediaId')
        .where('owner', '=', caller.id)
        .where(sql<boolean>`media_id = any(${[...ids]}::uuid[])`)
        .execute();
      const found = new Set(rows.map(({ mediaId }) => mediaId));
      return ids.map((id) => found.has(id));
    },
  };
}
