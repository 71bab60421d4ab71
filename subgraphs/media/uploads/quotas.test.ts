import { Readable } from 'node:stream';

import type { FileUpload } from 'graphql-upload-minimal';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { anonymousCaller, type Caller } from '../../../platform/access/caller.ts';
import { rememberRequestBytes } from '../../../platform/graphql/uploads/request-bytes.ts';
import { newId } from '../../../platform/ids.ts';
import { migratedDatabase } from '../../../test/kit/database/migrated.ts';
import { fileWorld, type FileWorld } from '../files/files.fixture.ts';
import type { StoredFile } from '../files/files.ts';
import { pruneQuotas } from './quota-store.ts';
import { createQuotaCounter, type UploadQuotas } from './quotas.ts';
import { storeUpload } from './store-upload.ts';

let world: FileWorld;
beforeAll(async () => {
  world = await fileWorld(await migratedDatabase());
});
afterAll(() => world.close());

let ben: Caller;
let stranger: Caller;
let count = 0;
beforeEach(() => {
  count += 1;
  ben = { ...anonymousCaller('trace', null), kind: 'user', id: `usr_${count}` };
  stranger = anonymousCaller('trace', `192.0.2.${count}`);
});

const unlimited = { bytes: 0, files: 0 };

function createCounter(quotas: Partial<UploadQuotas>) {
  return createQuotaCounter({
    database: world.database,
    quotas: { anonymous: unlimited, user: unlimited, key: unlimited, ...quotas },
  });
}

type Counter = ReturnType<typeof createCounter>;

/** Uploads bytes in pieces of 10,000; `read` says how many of them were asked for. */
function upload(
  quotas: Counter,
  caller: Caller,
  bytes: number,
  read = { bytes: 0 },
  requestBytes: number | null = null,
  open?: () => Readable,
): Promise<StoredFile> {
  function* pieces() {
    for (let left = bytes; left > 0; left -= 10_000) {
      read.bytes += Math.min(left, 10_000);
      yield Buffer.alloc(Math.min(left, 10_000), 'x');
    }
  }
  const file = {
    filename: 'a.txt',
    mimetype: 'text/plain',
    createReadStream: open ?? (() => Readable.from(pieces(), { objectMode: true, highWaterMark: 1 })),
  };
  rememberRequestBytes(file, requestBytes);
  const dependencies = { files: world.service(), uploadMaxBytes: 10_000_000, quotas };
  const options = { temporary: false, signal: new AbortController().signal };
  return storeUpload(dependencies, caller, Promise.resolve(file as unknown as FileUpload), options);
}

const awaitOutcome = (uploading: Promise<StoredFile>) =>
  uploading.then(
    ({ bytes }) => bytes,
    (error: { code: string }) => error.code,
  );

async function readReservations(caller: string): Promise<unknown[]> {
  return (
    await sql`select id from media.upload_reservations where account = ${caller}`.execute(world.database)
  ).rows;
}

it('lets uploads at the same time have as many files as the quota, and no more', async () => {
  const quotas = createCounter({ user: { bytes: 0, files: 5 }, anonymous: { bytes: 0, files: 5 } });
  for (const caller of [ben, stranger]) {
    const all = Array.from({ length: 20 }, () => awaitOutcome(upload(quotas, caller, 100)));
    const outcomes = await Promise.all(all);
    expect(outcomes.filter((outcome) => outcome === 100)).toHaveLength(5);
  }
  expect(await awaitOutcome(upload(quotas, ben, 1))).toBe('PAYLOAD_TOO_LARGE');
  expect(await awaitOutcome(upload(quotas, stranger, 1))).toBe('RATE_LIMITED');
});

it('lets uploads of one caller wait for each other without keeping the others waiting', async () => {
  const quotas = createCounter({ user: { bytes: 0, files: 1_000 } });
  const many = Array.from({ length: 50 }, () => quotas.reserve(ben, newId()));
  const order: string[] = [];
  const last = many.at(-1)?.then(() => order.push('the last of many'));
  await quotas.reserve({ ...ben, id: `${ben.id}-else` }, newId()).then(() => order.push('somebody else'));
  await last;
  expect(order).toEqual(['somebody else', 'the last of many']);
});

it('lets uploads at the same time have no more bytes than the quota', async () => {
  const quotas = createCounter({ user: { bytes: 1_000_000, files: 0 } });
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, () => awaitOutcome(upload(quotas, ben, 300_000))),
  );
  expect(outcomes.filter((outcome) => outcome === 300_000).length).toBeLessThanOrEqual(3);
  const { rows } = await sql<{ bytes: string }>`
    select coalesce(sum(bytes), 0) as bytes from media.media where owner = ${ben.id}`.execute(world.database);
  expect(Number(rows[0]?.bytes)).toBeLessThanOrEqual(1_000_000);
  expect(await readReservations(ben.id)).toEqual([]);
});

describe('the body', () => {
  it('is not read where there is no room for it', async () => {
    const quotas = createCounter({ user: { bytes: 0, files: 1 } });
    await upload(quotas, ben, 100);
    const read = { bytes: 0 };
    await expect(upload(quotas, ben, 100, read)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(read.bytes).toBe(0);
  });

  it('is not read when its request is longer than the room', async () => {
    const quotas = createCounter({ user: { bytes: 10_000_000, files: 0 } });
    const read = { bytes: 0 };
    const refused = upload(quotas, ben, 100, read, 20_000_000);
    await expect(refused).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(read.bytes).toBe(0);
    expect(await awaitOutcome(upload(quotas, ben, 100, read, 10_000_000))).toBe(100);
  });

  it('breaks off where the quota ends, and leaves nothing', async () => {
    const quotas = createCounter({ anonymous: { bytes: 200_000, files: 0 } });
    const read = { bytes: 0 };
    await expect(upload(quotas, stranger, 2_000_000, read)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(read.bytes).toBeLessThan(300_000);
    expect(await awaitOutcome(upload(quotas, stranger, 199_000))).toBe(199_000);
    expect(await awaitOutcome(upload(quotas, stranger, 2_000))).toBe('RATE_LIMITED');
  });

  it('leaves nothing where it is over before it is read', async () => {
    const quotas = createCounter({ user: { bytes: 0, files: 1 } });
    const over = upload(quotas, ben, 100, undefined, null, () => {
      throw new Error('the caller has gone');
    });
    await expect(over).rejects.toThrow('the caller has gone');
    expect(await readReservations(ben.id)).toEqual([]);
    expect(await awaitOutcome(upload(quotas, ben, 100))).toBe(100);
  });

  it('may fill the quota to its last byte', async () => {
    const quotas = createCounter({ user: { bytes: 500_000, files: 2 } });
    expect(await awaitOutcome(upload(quotas, ben, 500_000))).toBe(500_000);
  });
});

it('gives users the room of what they delete, and strangers the next day', async () => {
  const quotas = createCounter({ user: { bytes: 0, files: 1 }, anonymous: { bytes: 0, files: 1 } });
  const stored = await upload(quotas, ben, 100);
  await world.service().remove(ben, stored.id);
  expect(await awaitOutcome(upload(quotas, ben, 100))).toBe(100);
  await upload(quotas, stranger, 100);
  await sql`update media.anonymous_uploads set day = day - 1`.execute(world.database);
  expect(await awaitOutcome(upload(quotas, stranger, 100))).toBe(100);
});

it('counts an IPv6 address with its /64', async () => {
  const quotas = createCounter({ anonymous: { bytes: 0, files: 1 } });
  const at = (address: string) => awaitOutcome(upload(quotas, anonymousCaller('trace', address), 100));
  expect([await at('2001:db8:1:2::1'), await at('2001:db8:1:2:3::4'), await at('2001:db8:1:3::1')]).toEqual([
    100,
    'RATE_LIMITED',
    100,
  ]);
});

it('has no bound for administrators, nor where the setting has none', async () => {
  const quotas = createCounter({ user: { bytes: 1, files: 1 } });
  const administrator: Caller = { ...ben, scopes: ['admin'] };
  const shop: Caller = { ...ben, kind: 'key', id: 'key_1' };
  for (const caller of [administrator, shop, shop]) {
    expect(await awaitOutcome(upload(quotas, caller, 100))).toBe(100);
  }
});

it('forgets what a process that died had reserved', async () => {
  const quotas = createCounter({ user: { bytes: 0, files: 1 } });
  await quotas.reserve(ben, newId());
  expect(await awaitOutcome(upload(quotas, ben, 100))).toBe('PAYLOAD_TOO_LARGE');
  await sql`update media.upload_reservations set renewed_at = now() - interval '3 hours'`.execute(
    world.database,
  );
  expect(await awaitOutcome(upload(quotas, ben, 100))).toBe(100);
  await pruneQuotas(world.database);
  expect(await readReservations(ben.id)).toEqual([]);
});
