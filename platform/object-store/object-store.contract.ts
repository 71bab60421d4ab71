import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import { describe, expect, test } from 'vitest';

import type { ObjectStore } from './object-store.ts';

/** The contract of every object store, called by the test of each. `store` is called after the test's set-up. */
export function objectStoreContract(name: string, store: () => ObjectStore): void {
  describe(`${name} keeps the contract of object stores:`, () => {
    storing(store);
    reading(store);
    refusing(store);
    ending(store);
  });
}

function newKey(): string {
  return `files/${randomUUID()}/a b.bin`;
}

function put(store: ObjectStore, key: string, content: Buffer) {
  return store.put(key, Readable.from([content]), { contentType: 'image/png' });
}

function storing(store: () => ObjectStore): void {
  test('an object comes back as it was stored, with its facts', async () => {
    const key = newKey();
    const content = randomBytes(700_000);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const stored = await store().put(key, Readable.from(splitIntoChunks(content)), {
      contentType: 'image/png',
    });
    expect(stored).toEqual({ key, bytes: 700_000, sha256, contentType: 'image/png' });
    const facts = await store().head(key);
    expect(facts).toEqual({ ...stored, sha256: facts?.sha256 === null ? null : sha256 });
    expect(content.equals(await buffer(await store().get(key)))).toBe(true);
  });

  test('an empty object is an object', async () => {
    const key = newKey();
    expect((await put(store(), key, Buffer.alloc(0))).bytes).toBe(0);
    expect(await buffer(await store().get(key))).toHaveLength(0);
  });

  test('the same key again replaces the object, and whoever reads the old one reads it to its end', async () => {
    const key = newKey();
    const old = Buffer.alloc(600_000, 'old');
    await put(store(), key, old);
    const reading = await store().get(key);
    await put(store(), key, Buffer.from('new'));
    expect(await buffer(await store().get(key))).toEqual(Buffer.from('new'));
    expect(old.equals(await buffer(reading))).toBe(true);
  });

  test('nothing is visible before all of it is there', async () => {
    const key = newKey();
    const body = new PassThrough();
    const putting = store().put(key, body, { contentType: 'text/plain' });
    body.write('half');
    expect(await store().head(key)).toBeNull();
    body.end(' and half');
    await putting;
    expect((await buffer(await store().get(key))).toString()).toBe('half and half');
  });
}

function reading(store: () => ObjectStore): void {
  test('ranges are inclusive at both ends and cut at the end of the object', async () => {
    const key = newKey();
    await put(store(), key, Buffer.from('0123456789'));
    const read = async (start: number, end: number) =>
      String(await buffer(await store().get(key, { start, end })));
    expect(await read(2, 4)).toBe('234');
    expect(await read(9, 9)).toBe('9');
    expect(await read(8, 100)).toBe('89');
    await expect(store().get(key, { start: 10, end: 20 })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  test('an absent object has no facts and no bytes', async () => {
    expect(await store().head(newKey())).toBeNull();
    await expect(store().get(newKey())).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
}

function refusing(store: () => ObjectStore): void {
  test('a body over the limit is refused, leaves nothing, and is let go', async () => {
    const key = newKey();
    const body = Readable.from(splitIntoChunks(randomBytes(500_000)));
    const options = { contentType: 'text/plain', maxBytes: 499_999 };
    await expect(store().put(key, body, options)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(await store().head(key)).toBeNull();
    expect(body.destroyed).toBe(true);
  });

  test('a body of exactly the limit is taken', async () => {
    const options = { contentType: 'text/plain', maxBytes: 5 };
    expect((await store().put(newKey(), Readable.from([Buffer.from('12345')]), options)).bytes).toBe(5);
  });

  test('a body that fails leaves nothing, and its own error is told', async () => {
    const key = newKey();
    const body = Readable.from(failing());
    await expect(store().put(key, body, { contentType: 'text/plain' })).rejects.toThrow('cut off');
    expect(await store().head(key)).toBeNull();
  });

  test('an abort ends it at once, also while the body is silent', async () => {
    const key = newKey();
    const abort = new AbortController();
    const body = new PassThrough();
    body.write('half');
    const putting = store().put(key, body, { contentType: 'text/plain', signal: abort.signal });
    abort.abort();
    await expect(putting).rejects.toMatchObject({ name: 'AbortError' });
    expect(await store().head(key)).toBeNull();
    expect(body.destroyed).toBe(true);
  });
}

function ending(store: () => ObjectStore): void {
  test('a deleted object is gone, and deleting it again is fine', async () => {
    const key = newKey();
    await put(store(), key, Buffer.from('x'));
    await store().delete(key);
    await store().delete(key);
    expect(await store().head(key)).toBeNull();
  });

  test('a store that can be written passes its check', async () => {
    await expect(store().check()).resolves.toBeUndefined();
  });
}

function* splitIntoChunks(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += 64 * 1024) yield content.subarray(at, at + 64 * 1024);
}

async function* failing(): AsyncGenerator<Buffer> {
  yield Buffer.from('half');
  throw new Error('cut off');
}
