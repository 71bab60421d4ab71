import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { anonymousCaller, type Caller } from '../../../platform/access/caller.ts';
import { newId } from '../../../platform/ids.ts';
import { acquireReusedDatabase, type ReusedDatabase } from '../../../test/kit/database/reused-database.ts';
import { type MediaDatabase, mediaDatabase } from '../database/database.ts';
import { type BoardService, MOST_BOARDS, MOST_FILES } from './boards.ts';
import { createBoards } from './service.ts';

/** How much boards hold, and how many there may be, also when several are asked for at once. */

let source: ReusedDatabase;
let database: MediaDatabase;
let boards: BoardService;
beforeAll(async () => {
  source = await acquireReusedDatabase();
  database = mediaDatabase(source.database);
  boards = createBoards({ database, publicUrl: 'https://kiln.example.org', secret: 'a secret of this test' });
});
afterAll(() => source.release());

const user = (id: string): Caller => ({ ...anonymousCaller('test', null), kind: 'user', id });

/** Stored files of an owner, by their ids. */
async function storedFiles(owner: string, count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, newId);
  await sql`insert into media.media (id, owner, name, object_key, content_type, bytes, sha256, state)
    select id, ${owner}, 'a.png', id, 'image/png', 1, '', 'STORED' from unnest(${ids}::uuid[]) as id`.execute(
    database,
  );
  return ids;
}

it('counts files that are on a board already once, and takes nothing beyond what it holds', async () => {
  const caller = user('usr_full');
  const ids = await storedFiles(caller.id, MOST_FILES + 1);
  const { id } = await boards.create(caller, 'Full');
  const other = await boards.create(caller, 'Other');
  const put = (wanted: readonly string[], from: string | null = null) =>
    boards.put(caller, id, { ids: wanted, from });
  await put(ids.slice(0, 500));
  expect((await put(ids.slice(500, MOST_FILES - 1))).count).toBe(MOST_FILES - 1);
  expect((await put(ids.slice(0, 500))).count).toBe(MOST_FILES - 1);
  await boards.put(caller, other.id, { ids: ids.slice(-2), from: null });
  const [one, two] = await Promise.allSettled([put(ids.slice(-2, -1)), put(ids.slice(-1))]);
  expect([one.status, two.status].toSorted()).toEqual(['fulfilled', 'rejected']);
  await expect(put(ids.slice(-2), other.id)).rejects.toMatchObject({ field: 'mediaIds' });
  const counts = (await boards.list(caller)).map(({ count }) => count);
  expect(counts).toEqual([MOST_FILES, 2]);
});

it('makes no more boards than there may be of those that are asked for at once', async () => {
  const caller = user('usr_many');
  await sql`insert into media.boards (id, owner, name)
    select gen_random_uuid(), ${caller.id}, 'Foxes' from generate_series(2, ${MOST_BOARDS})`.execute(
    database,
  );
  const names = Array.from({ length: 6 }, (_, index) => `Cranes ${index}`);
  // Each has a connection then, and none comes after the others for want of one.
  await Promise.all(names.map(() => boards.list(caller)));
  const made = await Promise.allSettled(names.map((name) => boards.create(caller, name)));
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await boards.list(caller)).toHaveLength(MOST_BOARDS);
});
