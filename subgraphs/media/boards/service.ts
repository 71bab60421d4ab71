import { mayChange, type Caller } from '../../../platform/access/caller.ts';
import { AppError, badInput, notFound } from '../../../platform/errors.ts';
import { distinctIds, isUuid, newId } from '../../../platform/ids.ts';
import type { MediaDatabase } from '../database/database.ts';
import { formatFilePath } from '../files/names.ts';
import { createShares, type Shares } from '../files/shares.ts';
import { type Board, type BoardService, MOST_AT_ONCE, MOST_BOARDS, MOST_FILES } from './boards.ts';
import {
  type BoardRow,
  createStars,
  deleteItems,
  filesOnBoard,
  insertBoard,
  insertItems,
  selectBoards,
} from './store.ts';

interface Parts {
  readonly database: MediaDatabase;
  /** Address that callers use, without a trailing slash. */
  readonly publicUrl: string;
  /** Seals addresses; the same in every process and as for files. */
  readonly secret: string;
  readonly clock?: () => number;
}

const MOST_NAME = 100;
const LEAST_SECONDS = 60;
const MOST_SECONDS = 366 * 86_400;
/** How long the address of a file on a shared board is good: so much later a revoked board is closed for all. */
const FILE_MS = 3_600_000;

/** Makes the service over the database. */
export function createBoards({ clock = Date.now, ...options }: Parts): BoardService {
  const { database } = options;
  const kit = createKit({ ...options, clock });
  const { own, shown, again, set } = kit;
  return {
    async list(caller) {
      if (caller.kind === 'anonymous') return [];
      const rows = await selectBoards(database)
        .where('board.owner', '=', caller.id)
        .limit(MOST_BOARDS)
        .execute();
      return rows.map(shown);
    },
    async create(caller, name) {
      if (caller.kind === 'anonymous')
        throw new AppError('UNAUTHENTICATED', 'boards belong to somebody: sign in first');
      const row = { id: newId(), owner: caller.id, name: checkedName(name) };
      await insertBoard(database, row);
      return again(row.id);
    },
    rename: async (caller, id, name) => set(await own(caller, id), { name: checkedName(name) }),
    async remove(caller, id) {
      const row = await own(caller, id);
      await database.deleteFrom('media.boards').where('id', '=', row.id).execute();
      return shown(row);
    },
    ...contents(kit),
    ...sharing(kit),
    ...createStars(database, checkedIds),
  };
}

type Kit = ReturnType<typeof createKit>;

/** What every change of a board begins and ends with. */
function createKit({ database, publicUrl, secret, clock }: Required<Parts>) {
  const shares = createShares({ secret, clock });
  const shown = (row: BoardRow): Board => toBoard(row, { shares, publicUrl, now: clock() });
  const read = async (id: string) => selectBoards(database).where('board.id', '=', id).executeTakeFirst();
  const own = async (caller: Caller, id: string): Promise<BoardRow> => {
    const row = isUuid(id) ? await read(id) : undefined;
    if (row === undefined || !mayChange(caller, row.owner, () => false)) throw notFound('board', id);
    return row;
  };
  const again = async (id: string): Promise<Board> => {
    const row = await read(id);
    if (row === undefined) throw notFound('board', id);
    return shown(row);
  };
  const set = async (
    { id }: BoardRow,
    values: Partial<Pick<BoardRow, 'name' | 'shareId' | 'shareEndsAt'>>,
  ): Promise<Board> => {
    await database.updateTable('media.boards').set(values).where('id', '=', id).execute();
    return again(id);
  };
  return { database, publicUrl, clock, shares, shown, own, again, set };
}

/** What is put on a board and taken from it. */
function contents({ database, own, shown, again }: Kit): Pick<BoardService, 'put' | 'take'> {
  return {
    async put(caller, id, { ids, from }) {
      const row = await own(caller, id);
      const source = from === null ? null : await own(caller, from);
      const wanted = checkedIds(ids);
      const isMoved = source !== null && source.id !== row.id;
      return shown(await insertItems(database, row.id, { ids: wanted, from: isMoved ? source.id : null }));
    },
    async take(caller, id, ids) {
      const row = await own(caller, id);
      await deleteItems(database, row.id, checkedIds(ids));
      return again(row.id);
    },
  };
}

/** The address of a board, and what is behind it. */
function sharing(kit: Kit): Pick<BoardService, 'share' | 'unshare' | 'shared'> {
  const { database, publicUrl, clock, shares, own, set } = kit;
  return {
    async share(caller, id, seconds) {
      if (seconds < LEAST_SECONDS || seconds > MOST_SECONDS)
        throw badInput('seconds', `it is from ${LEAST_SECONDS} (a minute) to ${MOST_SECONDS} (a year)`);
      const row = await own(caller, id);
      return set(row, { shareId: newId(), shareEndsAt: new Date(clock() + seconds * 1_000) });
    },
    unshare: async (caller, id) => set(await own(caller, id), { shareId: null, shareEndsAt: null }),
    async shared(token) {
      const opened = shares.open(token);
      if (opened === null || opened === 'ended') return null;
      const row = await selectBoards(database).where('shareId', '=', opened.id).executeTakeFirst();
      const ends = row?.shareEndsAt ?? null;
      if (row === undefined || ends === null || ends.getTime() <= clock()) return null;
      const endsAt = Math.min(ends.getTime(), clock() + FILE_MS);
      const files = await filesOnBoard(database, row.id, MOST_FILES);
      return {
        name: row.name,
        endsAt: ends,
        files: files.map(({ id, ...file }) => ({
          ...file,
          url: `${publicUrl}${formatFilePath(shares.seal(id, endsAt), file.name)}`,
        })),
      };
    },
  };
}

interface Shown {
  readonly shares: Shares;
  readonly publicUrl: string;
  readonly now: number;
}

function toBoard(row: BoardRow, { shares, publicUrl, now }: Shown): Board {
  const { shareId, shareEndsAt: endsAt, ...board } = row;
  if (shareId === null || endsAt === null || endsAt.getTime() <= now) return { ...board, share: null };
  const token = shares.seal(shareId, endsAt.getTime());
  return { ...board, share: { url: `${publicUrl}/console/shared/${token}`, endsAt } };
}

function checkedName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '' || trimmed.length > MOST_NAME)
    throw badInput('name', `a board has a name of 1 to ${MOST_NAME} characters`);
  return trimmed;
}

function checkedIds(ids: readonly string[]): readonly string[] {
  if (ids.length > MOST_AT_ONCE) throw badInput('mediaIds', `at most ${MOST_AT_ONCE} files at once`);
  if (!ids.every(isUuid)) throw badInput('mediaIds', 'each is the id of a Media');
  return distinctIds(ids);
}
