import { createHash } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { anonymousCaller } from '../../../platform/access/caller.ts';
import type { Caller } from '../../../platform/access/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import type { ObjectStore } from '../../../platform/object-store/object-store.ts';
import { migratedDatabase } from '../../../test/kit/database/migrated.ts';
import { fileWorld } from './files.fixture.ts';
import type { FileWorld } from './files.fixture.ts';
import type { FileService, NewFile } from './files.ts';

let world: FileWorld;
let files: FileService;

beforeAll(async () => {
  world = await fileWorld(await migratedDatabase());
  files = world.service();
});

afterAll(() => world.close());

const HOUR_MS = 3_600_000;

function upload(content: string | Buffer, options: Partial<NewFile> = {}): NewFile {
  return {
    owner: 'usr_1',
    body: Readable.from([Buffer.from(content)]),
    name: 'note.txt',
    declaredType: 'text/plain',
    temporary: false,
    maxBytes: 1_000_000,
    ...options,
  };
}

function user(id: string): Caller {
  return { ...anonymousCaller('trace', null), kind: 'user', id };
}

async function rowCount(): Promise<number> {
  return (await world.database.selectFrom('media.media').select('id').execute()).length;
}

describe('storing', () => {
  test('keeps the bytes and their measured facts', async () => {
    const image = await sharp({ create: { width: 30, height: 20, channels: 3, background: '#fff' } })
      .png()
      .toBuffer();
    const stored = await files.store(
      upload(image, { name: 'C:\\dir\\my cat.jpg', declaredType: 'image/jpeg' }),
    );
    expect(stored).toEqual({
      id: stored.id,
      owner: 'usr_1',
      name: 'my-cat.jpg',
      contentType: 'image/png',
      bytes: image.length,
      sha256: createHash('sha256').update(image).digest('hex'),
      blake3: null,
      width: 30,
      height: 20,
      duration: null,
      taskId: null,
      createdAt: expect.any(Date),
    });
    expect(await files.byIds([stored.id, newId(), 'nonsense', stored.id.toUpperCase()])).toEqual([
      stored,
      null,
      null,
      stored,
    ]);
  });

  test('gives a file without an ending that of its type, in its name, address and key alike', async () => {
    const image = await sharp({ create: { width: 3, height: 2, channels: 3, background: '#fff' } })
      .webp()
      .toBuffer();
    for (const [content, declaredType, name] of [
      [image, 'image/png', 'result-1.webp'],
      ['hello', 'text/plain', 'result-1.txt'],
      ['', null, 'result-1'],
    ] as const) {
      const stored = await files.store(upload(content, { name: 'result-1', declaredType }));
      expect(stored.name).toBe(name);
      const { pathname } = new URL(files.formatUrl(stored));
      expect(pathname).toBe(`/api/files/${stored.id}/${name}`);
      expect(await world.store.head(`files/${stored.id}/${name}`)).toMatchObject({ sha256: stored.sha256 });
    }
  });

  test('over the limit stores nothing', async () => {
    const before = await rowCount();
    await expect(files.store(upload('12345', { maxBytes: 4 }))).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
    });
    expect(await rowCount()).toBe(before);
  });

  test('shows nothing while the bytes come, and leaves nothing when their sender gives up', async () => {
    const before = await rowCount();
    const abort = new AbortController();
    const body = new PassThrough();
    const storing = files.store(upload('', { body, signal: abort.signal }));
    body.write(Buffer.alloc(5_000));
    await expect.poll(rowCount).toBe(before + 1);
    const incoming = await world.database
      .selectFrom('media.media')
      .select('id')
      .where('state', '=', 'INCOMING')
      .execute();
    expect(await files.byIds(incoming.map(({ id }) => id))).toEqual([null]);
    abort.abort();
    await expect(storing).rejects.toThrow('aborted');
    expect(await rowCount()).toBe(before);
  });

  test('ends at once when its sender gives up before the first byte', async () => {
    const before = await rowCount();
    const abort = new AbortController();
    const body = new PassThrough();
    const storing = files.store(upload('', { body, signal: abort.signal }));
    abort.abort();
    await expect(storing).rejects.toThrow('aborted');
    expect(body.destroyed).toBe(true);
    expect(await rowCount()).toBe(before);
  });

  test('that fails, and can not even clean up, is left to the pruner', async () => {
    const broken: ObjectStore = {
      ...world.store,
      get: () => Promise.reject(new Error('disk gone')),
      delete: () => Promise.reject(new Error('disk gone')),
    };
    const before = await rowCount();
    await expect(world.service({ store: broken }).store(upload('x'))).rejects.toThrow('disk gone');
    expect(await rowCount()).toBe(before + 1);
    expect(await files.prune(100)).toBe(1);
    expect(await rowCount()).toBe(before);
  });
});

describe('reading', () => {
  test('gives the bytes, or a part of them', async () => {
    const { id } = await files.store(upload('0123456789'));
    expect(await text(await files.open(id))).toBe('0123456789');
    expect(await text(await files.open(id, { start: 3, end: 5 }))).toBe('345');
    await expect(files.open(newId())).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(files.open('nonsense')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('temporary files', () => {
  const later = () => world.service({ clock: () => Date.now() + HOUR_MS + 1_000 });

  test('go away after their hour, bytes and all', async () => {
    const file = await files.store(upload('x', { temporary: true }));
    expect(await files.prune(100)).toBe(0);
    expect(await later().prune(100)).toBe(1);
    expect(await files.byIds([file.id])).toEqual([null]);
    expect(await world.store.head(`files/${file.id}/note.txt`)).toBeNull();
  });

  test('stay when the work that uses them is committed, and only then', async () => {
    const [used, dropped] = [
      await files.store(upload('x', { temporary: true })),
      await files.store(upload('y', { temporary: true })),
    ];
    await world.database
      .transaction()
      .execute((transaction) => files.claim(transaction, [used.id, used.id], 'usr_1'));
    const failing = world.database.transaction().execute(async (transaction) => {
      await files.claim(transaction, [dropped.id], 'usr_1');
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await later().prune(100)).toBe(1);
    expect(await files.byIds([used.id, dropped.id])).toEqual([used, null]);
  });

  test('of others stay temporary when they are used', async () => {
    const file = await files.store(upload('x', { temporary: true }));
    await world.database.transaction().execute((transaction) => files.claim(transaction, [file.id], 'usr_2'));
    expect(await later().prune(100)).toBe(1);
    expect(await files.byIds([file.id])).toEqual([null]);
  });

  test('are not pruned while a transaction is claiming them', async () => {
    const file = await files.store(upload('x', { temporary: true }));
    await world.database.transaction().execute(async (transaction) => {
      await files.claim(transaction, [file.id], 'usr_1');
      expect(await later().prune(100)).toBe(0);
    });
    expect(await later().prune(100)).toBe(0);
    expect(await files.byIds([file.id])).toEqual([file]);
  });

  test('that are gone can not be claimed: the caller is told which input is at fault', async () => {
    for (const id of [newId(), 'nonsense']) {
      const claiming = world.database
        .transaction()
        .execute((transaction) => files.claim(transaction, [id], 'usr_1'));
      await expect(claiming).rejects.toMatchObject({ code: 'BAD_USER_INPUT', field: 'fileId' });
    }
  });

  test('are pruned in portions', async () => {
    for (const content of ['a', 'b', 'c']) await files.store(upload(content, { temporary: true }));
    expect(await later().prune(2)).toBe(2);
    expect(await later().prune(2)).toBe(1);
  });

  test('are left for the next run while the store is away, which is then asked once', async () => {
    let asked = 0;
    const away = {
      ...world.store,
      delete: () => {
        asked += 1;
        return Promise.reject(new AppError('UNAVAILABLE', 'the object storage does not answer'));
      },
    };
    for (const content of ['a', 'b']) await files.store(upload(content, { temporary: true }));
    const clock = () => Date.now() + 2 * HOUR_MS;
    expect(await world.service({ store: away, clock }).prune(2)).toBe(0);
    expect(asked).toBe(1);
    expect(await files.prune(2)).toBe(2);
  });

  test('that a task made stay with it', async () => {
    const file = await files.store(upload('x', { temporary: true }));
    const taskId = newId();
    const task = { id: taskId, manageTokenHash: null };
    await world.database.transaction().execute((transaction) => files.attach(transaction, [file.id], task));
    expect(await later().prune(100)).toBe(0);
    const row = await world.database
      .selectFrom('media.media')
      .select('taskId')
      .where('id', '=', file.id)
      .executeTakeFirst();
    expect(row?.taskId).toBe(taskId);
    const attaching = world.database
      .transaction()
      .execute((transaction) => files.attach(transaction, [newId()], task));
    await expect(attaching).rejects.toMatchObject({ code: 'INTERNAL' });
  });
});

test('files past their retention are pruned, younger ones are not', async () => {
  const file = await files.store(upload('x'));
  const days = (count: number) => () => Date.now() + count * 24 * HOUR_MS;
  expect(await world.service({ retentionDays: 7, clock: days(6) }).prune(1_000)).toBe(0);
  expect(await world.service({ retentionDays: 0, clock: days(1_000) }).prune(1_000)).toBe(0);
  expect(await world.service({ retentionDays: 7, clock: days(8) }).prune(1_000)).toBeGreaterThan(0);
  expect(await files.byIds([file.id])).toEqual([null]);
});

test('uploads of nobody are pruned after their days, unless work uses them', async () => {
  const upTo = world.service({ anonymousDays: 30 });
  const nobodys = { owner: 'anon', manageTokenHash: 'hash' };
  const unused = await upTo.store(upload('x', nobodys));
  const used = await upTo.store(upload('x', nobodys));
  const somebodys = await upTo.store(upload('x', { manageTokenHash: null }));
  const result = await upTo.store(upload('x', { owner: 'anon' }));
  await world.database.transaction().execute((transaction) => upTo.claim(transaction, [used.id], 'anon'));
  const left = async (days: number) => {
    await world.service({ clock: () => Date.now() + days * 24 * HOUR_MS }).prune(1_000);
    const kept = await files.byIds([unused.id, used.id, somebodys.id, result.id]);
    return kept.map((file) => file !== null);
  };
  expect(await left(29)).toEqual([true, true, true, true]);
  expect(await left(31)).toEqual([false, true, true, true]);
});

describe('the bare id', () => {
  test('opens a file to its owner alone where addresses expire, and to everybody where they do not', async () => {
    const file = await files.store(upload('x'));
    const expiring = world.service({ urlTtlSeconds: 60 });
    const stranger = anonymousCaller('t', null);
    expect([user('usr_1'), user('usr_2'), stranger].map((caller) => expiring.opens(caller, file))).toEqual([
      true,
      false,
      false,
    ]);
    expect(files.opens(stranger, file)).toBe(true);
  });

  test("opens nobody's file as long as its first address", async () => {
    const file = { ...(await files.store(upload('x'))), owner: 'anon' };
    const after = (seconds: number) =>
      world.service({ urlTtlSeconds: 60, clock: () => file.createdAt.getTime() + seconds * 1_000 });
    const stranger = anonymousCaller('t', null);
    expect(after(59).opens(stranger, file)).toBe(true);
    expect(after(61).opens(stranger, file)).toBe(false);
  });
});

describe('removing', () => {
  test('takes row and bytes, once, and answers what was there', async () => {
    const file = await files.store(upload('x'));
    expect(await files.remove(user('usr_1'), file.id)).toEqual(file);
    expect(await world.store.head(`files/${file.id}/note.txt`)).toBeNull();
    await expect(files.remove(user('usr_1'), file.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('is for the owner: others are told that there is no such file', async () => {
    const file = await files.store(upload('x'));
    await expect(files.remove(user('usr_2'), file.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(files.remove(anonymousCaller('t', null), 'nonsense')).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(await files.byIds([file.id])).toEqual([file]);
  });

  test('succeeds although the store fails; the pruner takes the bytes later', async () => {
    const file = await files.store(upload('x'));
    const broken: ObjectStore = { ...world.store, delete: () => Promise.reject(new Error('disk gone')) };
    await world.service({ store: broken }).remove(user('usr_1'), file.id);
    expect(await files.byIds([file.id])).toEqual([null]);
    expect(await world.store.head(`files/${file.id}/note.txt`)).not.toBeNull();
    expect(await files.prune(100)).toBe(1);
    expect(await world.store.head(`files/${file.id}/note.txt`)).toBeNull();
  });
});

test('pruning goes no further while the store is away', async () => {
  for (const content of ['x', 'y']) await files.store({ ...upload(content), temporary: true });
  let asked = 0;
  const away: ObjectStore = {
    ...world.store,
    delete: () => {
      asked += 1;
      return Promise.reject(new AppError('UNAVAILABLE', 'the object storage does not answer'));
    },
  };
  const later = () => Date.now() + 2 * HOUR_MS;
  await world.service({ store: away, clock: later }).prune(100);
  expect(asked).toBe(1);
  expect(await files.prune(100)).toBe(2);
});

describe('addresses', () => {
  const id = '01890000-0000-7000-8000-000000000001';
  const file = { id, name: '猫 1.png' } as Parameters<FileService['formatUrl']>[0];

  test('are stable, below the public address', () => {
    expect(files.formatUrl(file)).toBe(`https://kiln.example.org/api/files/${id}/%E7%8C%AB%201.png`);
    expect(files.formatUrl(file, { cdn: true })).toBe(files.formatUrl(file));
    const cdnBaseUrl = 'https://cdn.example.org';
    expect(world.service({ cdnBaseUrl }).formatUrl(file, { cdn: true })).toBe(
      `${cdnBaseUrl}/files/${id}/%E7%8C%AB%201.png`,
    );
  });

  test.each([
    [`https://kiln.example.org/api/files/${id}/x.png`, id],
    [`http://10.0.0.1:4000/files/${id.toUpperCase()}/x.png?download=1#top`, id],
    [`https://cdn.example.org/deep/prefix/files/${id}/%E7%8C%AB.png`, id],
    [`https://example.org/files/${id}`, null],
    [`https://example.org/files/${id}/a/b`, null],
    ['https://example.org/files/readme/x.png', null],
    [`ftp://example.org/files/${id}/x.png`, null],
    [`/files/${id}/x.png`, null],
    ['nonsense', null],
  ])('%s is known for %s', (url, expected) => {
    expect(files.idOfUrl(url)).toBe(expected);
  });

  test('are signed and end when a time is set', () => {
    let now = 1_700_000_000_000;
    const signing = world.service({ urlTtlSeconds: 60, clock: () => now });
    const url = signing.formatUrl(file);
    const query = new URL(url).searchParams;
    expect(signing.idOfUrl(url)).toBe(id);
    expect(signing.admits(id, query)).toBe(true);
    expect(signing.admits(newId(), query)).toBe(false);
    expect(signing.admits(id, new URLSearchParams())).toBe(false);
    expect(
      signing.admits(id, new URLSearchParams(`exp=${Number(query.get('exp')) + 1}&sig=${query.get('sig')}`)),
    ).toBe(false);
    expect(world.service({ urlTtlSeconds: 60, secret: 'other', clock: () => now }).admits(id, query)).toBe(
      false,
    );
    now += 60_000;
    expect(signing.admits(id, query)).toBe(false);
    expect(signing.idOfUrl(url)).toBeNull();
  });
});
