import { sql } from 'kysely';

import { AppError } from '../../../platform/errors.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { BoardService } from './boards.ts';

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
