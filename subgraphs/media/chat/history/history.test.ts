import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { anonymousCaller, type Caller } from '../../../../platform/access/caller.ts';
import { createDatabase, type Database } from '../../../../platform/database/database.ts';
import { silentLogger } from '../../../../platform/process/logger.ts';
import { migratedDatabase } from '../../../../test/kit/database/migrated.ts';
import type { TestDatabase } from '../../../../test/kit/database/postgres.ts';
import { mediaDatabase } from '../../database/database.ts';
import { createPersonalData } from '../../personal-data/personal-data.ts';
import { prune } from '../../tasks/work/pruner.ts';
import type { ChatHistory } from './history.ts';
import { createChatHistory } from './service.ts';

const user = (id: string): Caller => ({
  kind: 'user',
  id,
  scopes: [],
  traceId: 't'.repeat(32),
  address: null,
});
const ann = user('usr_ann');
const bob = user('usr_bob');
const nobody = anonymousCaller('t'.repeat(32), '127.0.0.1');
const HIDDEN = '01a20ea5-3134-738d-81c9-6098724dedc2';
const chat = { title: 'Kilns', generator: 'llm' };

let home: TestDatabase;
let database: Database;
let history: ChatHistory;

beforeAll(async () => {
  home = await migratedDatabase();
  const logger = silentLogger();
  database = createDatabase({ config: home.config, maxConnections: 4, applicationName: 'test', logger });
  const files = { byIds: async (ids: readonly string[]) => ids.map(() => null), opens: () => false };
  history = createChatHistory({ database: mediaDatabase(database), files });
});
afterAll(async () => {
  await database?.close();
  await home?.drop();
});

/** A conversation of one question and, as branches, two answers. */
async function kept(caller: Caller, words: string) {
  const [id, question, one, other] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const answer = { parentId: question, role: 'ASSISTANT' as const, model: 'm' };
  await history.save(caller, id, {
    ...chat,
    system: 'Be short.',
    temperature: 0.5,
    messages: [
      { id: question, role: 'USER', text: words },
      { ...answer, id: one, text: 'First.' },
    ],
  });
  const messages = [{ ...answer, id: other, text: 'Second.' }];
  await history.save(caller, id, { ...chat, currentId: other, messages });
  return { id, question, one, other };
}

describe('kept conversations', () => {
  it('keeps branches in order, and replaces a message with a known id', async () => {
    const { id, question, one, other } = await kept(ann, 'how hot is a kiln?');
    await history.save(ann, id, {
      ...chat,
      messages: [{ id: one, parentId: question, role: 'ASSISTANT', text: 'Hot.' }],
    });
    const messages = await history.messages(ann, id);
    expect(messages.map(({ id: each, parentId, text }) => [each, parentId, text])).toEqual([
      [question, null, 'how hot is a kiln?'],
      [one, question, 'Hot.'],
      [other, question, 'Second.'],
    ]);
  });

  it('knows messages by their ids in any letters', async () => {
    const { id, question, other } = await kept(ann, 'how cold is clay?');
    const large = (text: string) => text.toUpperCase();
    const next = { id: large(randomUUID()), parentId: large(other), role: 'USER', text: 'Sure?' } as const;
    const saved = await history.save(ann, large(id), { ...chat, currentId: next.id, messages: [next] });
    expect(saved).toMatchObject({ id, currentId: next.id.toLowerCase() });
    expect((await history.messages(ann, large(id))).at(-1)).toMatchObject({ parentId: other, text: 'Sure?' });
    const ofItself = { id: question, parentId: large(question), role: 'USER', text: 'a' } as const;
    await expect(history.save(ann, id, { ...chat, messages: [ofItself] })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'input.messages[0].parentId',
    });
  });

  it('is a tree: a message does not come to be below itself', async () => {
    const { id, question, one, other } = await kept(ann, 'round?');
    const below = { id: question, parentId: one, role: 'USER', text: 'round?' } as const;
    await expect(history.save(ann, id, { ...chat, messages: [below] })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'input.messages[0].parentId',
    });
    // As releases before could leave it, which ends no search for what is above.
    await database.pool.query('update media.conversation_messages set parent_id = $1 where id = $2', [
      one,
      question,
    ]);
    const next = { id: randomUUID(), parentId: other, role: 'USER', text: 'on' } as const;
    expect(await history.save(ann, id, { ...chat, messages: [next] })).toMatchObject({ id });
  });

  it('finds the caller’s own by words of names and messages, the last changed first, page by page', async () => {
    const carol = user('usr_carol');
    const first = await kept(carol, 'a 100% glaze_recipe');
    const second = await kept(carol, 'clay');
    const list = async (search: object) =>
      (await history.list(carol, { first: 10, ...search })).map(({ id }) => id);
    expect(await list({})).toEqual([second.id, first.id]);
    expect(await list({ text: 'GLAZE_' })).toEqual([first.id]);
    expect(await list({ text: 'glazeX' })).toEqual([]);
    const [newest] = await history.list(carol, { first: 1 });
    expect(await list({ after: newest?.revision })).toEqual([first.id]);
    expect(await history.list(bob, { first: 10 })).toEqual([]);
  });

  it('tells nobody what others keep; who has no credential needs the id', async () => {
    const { id } = await kept(ann, 'secret');
    const refused = { code: 'NOT_FOUND' };
    await expect(history.read(bob, id)).rejects.toMatchObject(refused);
    await expect(history.messages(nobody, id)).rejects.toMatchObject(refused);
    await expect(history.save(bob, id, chat)).rejects.toMatchObject(refused);
    await expect(history.remove(bob, id)).rejects.toMatchObject(refused);
    const loose = await kept(nobody, 'loose');
    expect(await history.list(nobody, { first: 10 })).toEqual([]);
    expect(await history.list(nobody, { first: 10, ids: [loose.id, id] })).toMatchObject([{ id: loose.id }]);
    expect(await history.remove(nobody, loose.id)).toMatchObject({ id: loose.id });
  });

  it.each([
    ['title', { title: ' ' }, 'input.title'],
    ['title', { title: 'x'.repeat(201) }, 'input.title'],
    ['generator', { generator: 'x'.repeat(301) }, 'input.generator'],
    ['options', { options: ['a'] }, 'input.options'],
    ['system', { system: 'x'.repeat(60_000) }, 'input.options'],
    ['currentId', { currentId: HIDDEN }, 'input.currentId'],
    [
      'parentId',
      { messages: [{ id: randomUUID(), parentId: HIDDEN, role: 'USER', text: 'a' }] },
      'input.messages[0].parentId',
    ],
    [
      'mediaIds',
      { messages: [{ id: randomUUID(), role: 'USER', text: 'a', mediaIds: [HIDDEN] }] },
      'input.messages',
    ],
    [
      'id in mediaIds',
      { messages: [{ id: randomUUID(), role: 'USER', text: 'a', mediaIds: ['a'] }] },
      'input.messages[0].mediaIds',
    ],
    ['id of a message', { messages: [{ id: 'a', role: 'USER', text: 'a' }] }, 'input.messages[0].id'],
    [
      'number of messages',
      {
        messages: Array.from({ length: 101 }, () => ({ id: randomUUID(), role: 'USER' as const, text: 'a' })),
      },
      'input.messages',
    ],
    [
      'text',
      { messages: [{ id: randomUUID(), role: 'USER', text: 'a'.repeat(200_001) }] },
      'input.messages[0].text',
    ],
  ] as const)('refuses a wrong %s and names the field', async (_, wrong, field) => {
    const saving = history.save(ann, randomUUID(), { ...chat, ...wrong });
    await expect(saving).rejects.toMatchObject({ code: 'BAD_USER_INPUT', field });
  });

  it.each([
    ['first', { first: 101 }],
    ['first', { first: 0 }],
    ['search', { text: 'x'.repeat(201) }],
    ['ids', { ids: Array.from({ length: 101 }, () => HIDDEN) }],
    ['after', { after: 'x' }],
  ])('refuses a list with a wrong %s', async (field, search) => {
    const listing = history.list(ann, { first: 10, ...search });
    await expect(listing).rejects.toMatchObject({ code: 'BAD_USER_INPUT', field });
  });

  it('exports what somebody keeps, and removes what is old', async () => {
    const dora = user('usr_dora');
    const { id } = await kept(dora, 'mine');
    const data = createPersonalData(mediaDatabase(database));
    const records = await data.read('usr_dora', null, 10);
    expect(records.map(({ kind }) => kind)).toEqual([
      'conversation',
      ...Array(3).fill('conversationMessage'),
    ]);
    const [old, young] = [await kept(nobody, 'old'), await kept(nobody, 'young')];
    await database.pool.query(
      `update media.conversations set updated_at = now() - make_interval(days => case id when $1 then 29 else 31 end)
       where id = any(array[$1, $2, $3]::uuid[])`,
      [young.id, id, old.id],
    );
    const ids: readonly string[] = [id, old.id, young.id];
    const left = async (promptRetentionDays: number) => {
      const files = { prune: async () => 0, remove: async () => undefined } as never;
      const parts = { queue: undefined as never, registry: undefined as never, stopping: undefined as never };
      await prune({
        ...parts,
        database: mediaDatabase(database),
        files,
        logger: silentLogger(),
        eventRetentionDays: 0,
        promptRetentionDays,
      });
      const { rows } = await database.pool.query('select id from media.conversations where id = any($1)', [
        ids,
      ]);
      const stays = new Set(rows.map((row: { readonly id: string }) => row.id));
      return ids.filter((one) => stays.has(one));
    };
    // Those of nobody after 30 days, whatever is kept of others.
    expect(await left(0)).toEqual([id, young.id]);
    expect(await left(30)).toEqual([young.id]);
    expect(await data.read('usr_dora', null, 10)).toEqual([]);
  });
});
