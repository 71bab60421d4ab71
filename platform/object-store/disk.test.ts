import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { createDiskStore } from './disk.ts';
import { objectStoreContract } from './object-store.contract.ts';
import type { ObjectStore } from './object-store.ts';

let directory: string;
let store: ObjectStore;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'kiln-store-'));
  store = createDiskStore({ directory });
});

afterEach(() => rm(directory, { recursive: true, force: true }));

objectStoreContract('the disk store', () => store);

describe('the disk store', () => {
  const incoming = () => readdir(path.join(directory, 'incoming'));

  test('leaves no temporary file behind, whatever happened', async () => {
    await store.put('a', Readable.from([Buffer.from('x')]), { contentType: 'text/plain' });
    const options = { contentType: 'text/plain', maxBytes: 1 };
    await expect(store.put('b', Readable.from([Buffer.from('xx')]), options)).rejects.toThrow('larger');
    await store.check();
    expect(await incoming()).toEqual([]);
  });

  test('is away, not broken, while its folder can not be written', async () => {
    await store.check();
    await rm(path.join(directory, 'incoming'), { recursive: true });
    const put = store.put('a', Readable.from([Buffer.from('x')]), { contentType: 'text/plain' });
    await expect(put).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test('sweeps the leftovers of a crash when it starts, but nothing that may still be written', async () => {
    const folder = path.join(directory, 'incoming');
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'old'), 'half');
    await utimes(path.join(folder, 'old'), new Date(0), new Date(0));
    await writeFile(path.join(folder, 'young'), 'half');
    await store.check();
    expect(await incoming()).toEqual(['young']);
  });

  test('finds what an earlier process stored', async () => {
    const stored = await store.put('key', Readable.from([Buffer.from('kept')]), {
      contentType: 'text/plain',
    });
    expect(await createDiskStore({ directory }).head('key')).toEqual(stored);
  });

  test('never lets a key name a path', async () => {
    await store.put('../../../escape', Readable.from([Buffer.from('x')]), { contentType: 'text/plain' });
    expect(await readdir(directory)).toEqual(['incoming', 'objects']);
    expect((await store.head('../../../escape'))?.bytes).toBe(1);
  });

  test('takes no file for an object that is cut, changed or too long', async () => {
    await store.put('key', Readable.from([Buffer.from('kept')]), { contentType: 'text/plain' });
    const [folder = ''] = await readdir(path.join(directory, 'objects'));
    const [name = ''] = await readdir(path.join(directory, 'objects', folder));
    const file = path.join(directory, 'objects', folder, name);
    const whole = await readFile(file);
    const changed = (change: (bytes: Buffer) => void) => {
      const bytes = Buffer.from(whole);
      change(bytes);
      return bytes;
    };
    const damaged = [
      Buffer.alloc(3),
      whole.subarray(0, -1),
      whole.subarray(1),
      Buffer.concat([Buffer.from('x'), whole]),
      changed((bytes) => bytes.write('NILK', bytes.length - 4)),
      changed((bytes) => bytes.writeUInt32BE(60_000, bytes.length - 8)),
      changed((bytes) => bytes.writeUInt32BE(whole.length, bytes.length - 8)),
    ];
    for (const bytes of damaged) {
      await writeFile(file, bytes);
      await expect(store.head('key')).rejects.toThrow('this file of the object store is damaged');
      await expect(store.get('key')).rejects.toThrow('this file of the object store is damaged');
    }
    await writeFile(file, whole);
    expect(await store.head('key')).toMatchObject({ bytes: 4, contentType: 'text/plain' });
    const long = { contentType: 'x'.repeat(17_000) };
    await expect(store.put('long', Readable.from([]), long)).rejects.toThrow(
      'the key or type of an object is too long',
    );
    expect([await store.head('long'), await store.address('key', {} as never)]).toEqual([null, null]);
  });

  test('says UNAVAILABLE when its directory can not be made', async () => {
    const file = path.join(directory, 'file');
    await writeFile(file, '');
    await expect(createDiskStore({ directory: file }).check()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test('says UNAVAILABLE when its directory is gone or can not be written, and leaves nothing behind', async () => {
    const put = () => store.put('key', Readable.from([Buffer.from('x')]), { contentType: 'text/plain' });
    await writeFile(path.join(directory, 'objects'), 'no folder');
    await expect(put()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await incoming()).toEqual([]);
    await rm(path.join(directory, 'incoming'), { recursive: true });
    await expect(store.check()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test('keeps its memory flat while a large body streams in', async () => {
    const body = new PassThrough();
    const putting = store.put('large', body, { contentType: 'video/mp4' });
    const chunk = Buffer.alloc(1024 * 1024);
    const before = process.memoryUsage().rss;
    let peak = 0;
    for (let count = 0; count < 200; count += 1) {
      if (!body.write(chunk)) await new Promise((resolve) => body.once('drain', resolve));
      peak = Math.max(peak, process.memoryUsage().rss - before);
    }
    body.end();
    expect((await putting).bytes).toBe(200 * 1024 * 1024);
    expect(peak).toBeLessThan(100 * 1024 * 1024);
  });
});
