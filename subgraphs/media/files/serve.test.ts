import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { anonymousCaller, type Caller } from '../../../platform/access/caller.ts';
import { newId } from '../../../platform/ids.ts';
import type { ObjectStore } from '../../../platform/object-store/object-store.ts';
import { migratedDatabase } from '../../../test/kit/database/migrated.ts';
import { fileWorld } from './files.fixture.ts';
import type { FileWorld } from './files.fixture.ts';
import type { FileService, StoredFile } from './files.ts';
import { createFileHandler } from './serve.ts';

let world: FileWorld;
const servers: Server[] = [];

beforeAll(async () => {
  world = await fileWorld(await migratedDatabase());
});

afterAll(async () => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  await world.close();
});

/** A server with files served; answers its address and the errors that the file handler did not answer itself. */
async function fileServer(
  options: {
    store?: ObjectStore;
    urlTtlSeconds?: number;
    clock?: () => number;
    shareLimit?: number;
  } = {},
) {
  const { store = world.store, urlTtlSeconds = 0, clock, shareLimit = 1_000 } = options;
  const errors: unknown[] = [];
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const files = world.service({ publicUrl: base, urlTtlSeconds, shareLimit, ...(clock && { clock }) });
  const handler = createFileHandler({ files, store, urlTtlSeconds });
  server.on('request', (request, response) => {
    handler(request, response).catch((error: unknown) => {
      errors.push(error);
      response.destroy();
    });
  });
  return { base, files, errors };
}

async function stored(
  files: Awaited<ReturnType<typeof fileServer>>['files'],
  content: string | Buffer,
  { name = 'note.txt', declaredType = 'text/plain' } = {},
) {
  const file = await files.store({
    owner: 'anon',
    body: Readable.from([Buffer.from(content)]),
    name,
    declaredType,
    temporary: false,
    maxBytes: 100_000_000,
  });
  return { file, url: files.formatUrl(file) };
}

const nobody = anonymousCaller('test', '203.0.113.1');
const me: Caller = { kind: 'user', id: 'usr_me', scopes: [], traceId: 'test', address: null };
const limited: Caller = { ...me, id: 'usr_limited' };

/** The address of a share that ends in a minute. */
async function shareFile(files: FileService, { id }: StoredFile): Promise<string> {
  return (await files.shares.share(nobody, id, 60)).url;
}

describe('a shared address', () => {
  test('opens the file without telling its id, and ends', async () => {
    let now = Date.now();
    const { files } = await fileServer({ clock: () => now });
    const { file } = await stored(files, 'hello');
    const url = await shareFile(files, file);
    const response = await fetch(url, { headers: { range: 'bytes=1-2' } });
    expect(response.status).toBe(206);
    expect(await response.text()).toBe('el');
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
    expect(`${url}${JSON.stringify([...response.headers])}`).not.toContain(file.id);
    expect(await shareFile(files, file)).not.toBe(url);
    now += 60_000;
    expect((await fetch(url)).status).toBe(410);
  });

  test('opens nothing once it is revoked, or its file is gone, and is nobody else’s to revoke', async () => {
    const { files } = await fileServer();
    const { file } = await stored(files, 'hello');
    const [kept, ended] = [
      await files.shares.share(me, file.id, 60),
      await files.shares.share(me, file.id, 60),
    ];
    expect((await files.shares.list(me, file.id)).map(({ id }) => id).toSorted()).toEqual(
      [kept.id, ended.id].toSorted(),
    );
    expect(await files.shares.list(nobody, file.id)).toEqual([]);
    const other = { ...me, id: 'usr_other' };
    await expect(files.shares.revoke(other, ended.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await files.shares.revoke(me, ended.id);
    expect([(await fetch(ended.url)).status, (await fetch(kept.url)).status]).toEqual([404, 200]);
    expect(await files.shares.list(me, null)).toMatchObject([
      { id: kept.id, mediaId: file.id, owner: me.id },
    ]);
  });

  test('is one of at most SHARE_LIMIT of one caller, and of one file of nobody’s', async () => {
    const { files } = await fileServer({ shareLimit: 2 });
    const [one, two] = [(await stored(files, 'a')).file, (await stored(files, 'b')).file];
    const share = (caller: Caller, { id }: StoredFile) =>
      files.shares.share(caller, id, 60).then(
        () => 'made',
        ({ code, field }: { code: string; field: string }) => `${code} ${field}`,
      );
    expect(await Promise.all([one, one, two].map((file) => share(nobody, file)))).toEqual([
      'made',
      'made',
      'made',
    ]);
    expect(await share(nobody, one)).toBe('BAD_USER_INPUT id');
    const all = await Promise.all([one, two, one, two].map((file) => share(limited, file)));
    expect(all.filter((outcome) => outcome === 'made')).toHaveLength(2);
    expect(await share({ ...limited, id: 'usr_more' }, one)).toBe('made');
    await expect(files.shares.share(me, one.id, 59)).rejects.toMatchObject({ field: 'seconds' });
  });

  test('of another installation, or changed, is unknown', async () => {
    const { files, base } = await fileServer();
    const { file } = await stored(files, 'hello');
    const [, token = ''] = /files\/([^/]+)\//.exec(await shareFile(files, file)) ?? [];
    const other = `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`;
    expect((await fetch(`${base}/files/${other}/note.txt`)).status).toBe(404);
    expect((await fetch(`${base}/files/${token.slice(1)}/note.txt`)).status).toBe(404);
  });

  test('never redirects to the store, whose addresses tell the id', async () => {
    const store = { ...world.store, address: async () => 'http://store.example/files/1' };
    const { files } = await fileServer({ store });
    const { file, url } = await stored(files, 'hello');
    expect((await fetch(url, { redirect: 'manual' })).status).toBe(302);
    expect(await (await fetch(await shareFile(files, file))).text()).toBe('hello');
  });
});

describe('a file', () => {
  test('comes whole, with everything a cache and a player need', async () => {
    const { files } = await fileServer();
    const { file, url } = await stored(files, 'hello', { name: '猫 "1".txt' });
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('hello');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '5',
      'content-disposition': `inline; filename="_-1-.txt"; filename*=UTF-8''${encodeURIComponent('猫-1-.txt')}`,
      etag: `"${file.sha256}"`,
      'last-modified': file.createdAt.toUTCString(),
      'accept-ranges': 'bytes',
      'cache-control': 'public, max-age=86400',
      'x-content-type-options': 'nosniff',
    });
  });

  test('has the same head for HEAD, and no body', async () => {
    const { files } = await fileServer();
    const { url } = await stored(files, 'hello');
    const response = await fetch(url, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe('5');
    expect(await response.text()).toBe('');
  });

  test('that may be empty is served too', async () => {
    const { files } = await fileServer();
    const { url } = await stored(files, '');
    const response = await fetch(url, { headers: { range: 'bytes=0-' } });
    expect(response.status).toBe(416);
    expect((await fetch(url)).headers.get('content-length')).toBe('0');
  });

  test('is not sent again to who has it', async () => {
    const { files } = await fileServer();
    const { file, url } = await stored(files, 'hello');
    const status = async (headers: Record<string, string>) => (await fetch(url, { headers })).status;
    expect(await status({ 'if-none-match': `"other", W/"${file.sha256}"` })).toBe(304);
    expect(await status({ 'if-none-match': '"other"', 'if-modified-since': new Date().toUTCString() })).toBe(
      200,
    );
    expect(await status({ 'if-modified-since': new Date().toUTCString() })).toBe(304);
    expect(await status({ 'if-modified-since': new Date(0).toUTCString() })).toBe(200);
  });

  test.each([
    ['<script>alert(1)</script>', 'text/html', 'page.html'],
    ['<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', 'image/svg+xml', 'x.svg'],
    ['<x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>', 'video/thing+xml', 'x.mp4'],
    [Buffer.from([0, 1, 2]), 'application/x-thing', 'x.bin'],
  ])('that could act in a browser is saved, not shown: %s', async (content, declaredType, name) => {
    const { files } = await fileServer();
    const { url } = await stored(files, content, { name, declaredType });
    const { headers } = await fetch(url);
    expect(headers.get('content-disposition')).toMatch(/^attachment/);
    expect(headers.get('content-security-policy')).toContain('sandbox');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});

describe('a part of a file', () => {
  test.each([
    ['bytes=0-0', '0', 'bytes 0-0/10'],
    ['bytes=3-5', '345', 'bytes 3-5/10'],
    ['bytes=8-', '89', 'bytes 8-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=-300', '0123456789', 'bytes 0-9/10'],
    ['bytes=5-99', '56789', 'bytes 5-9/10'],
  ])('%s is %s', async (range, body, contentRange) => {
    const { files } = await fileServer();
    const { url } = await stored(files, '0123456789');
    const response = await fetch(url, { headers: { range } });
    expect(response.status).toBe(206);
    expect(await response.text()).toBe(body);
    expect(response.headers.get('content-range')).toBe(contentRange);
    expect(response.headers.get('content-length')).toBe(String(body.length));
  });

  test.each(['bytes=10-', 'bytes=99-100', 'bytes=-0'])('%s can not be had', async (range) => {
    const { files } = await fileServer();
    const { url } = await stored(files, '0123456789');
    const response = await fetch(url, { headers: { range } });
    expect(response.status).toBe(416);
    expect(response.headers.get('content-range')).toBe('bytes */10');
  });

  test.each(['bytes=0-1,3-4', 'bytes=5-3', 'lines=1-2', 'bytes=-', 'bytes=x'])(
    '%s means the whole',
    async (range) => {
      const { files } = await fileServer();
      const { url } = await stored(files, '0123456789');
      const response = await fetch(url, { headers: { range } });
      expect(response.status).toBe(200);
      expect(await response.text()).toBe('0123456789');
    },
  );

  test('is only given of the file that was begun', async () => {
    const { files } = await fileServer();
    const { file, url } = await stored(files, '0123456789');
    const status = async (condition: string) =>
      (await fetch(url, { headers: { range: 'bytes=0-1', 'if-range': condition } })).status;
    expect(await status(`"${file.sha256}"`)).toBe(206);
    expect(await status('"another"')).toBe(200);
    expect(await status(new Date().toUTCString())).toBe(206);
  });
});

describe('the file handler', () => {
  test('says 404 for what is not there, and 405 for what it does not do', async () => {
    const { base, files } = await fileServer();
    for (const path of [
      `/files/${newId()}/x.png`,
      '/files/nonsense/x.png',
      `/files/${newId()}`,
      '/files/',
      '//',
    ]) {
      expect((await fetch(base + path)).status).toBe(404);
    }
    const { url } = await stored(files, 'x');
    const response = await fetch(url, { method: 'DELETE' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('refuses addresses that are not signed or have ended, when they end', async () => {
    const { files } = await fileServer({ urlTtlSeconds: 600 });
    const { url } = await stored(files, 'hello');
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('private, max-age=600');
    expect((await fetch(url.replace(/\?.*/, ''))).status).toBe(403);
    expect((await fetch(url.replace('sig=', 'sig=x'))).status).toBe(403);
  });

  test('sends the browser to where the store has the file, when the store can', async () => {
    const elsewhere: ObjectStore = {
      ...world.store,
      address: async (key, { contentType, contentDisposition }) =>
        `https://s3.example.org/${encodeURI(key)}?as=${contentType}&${contentDisposition}`,
    };
    const { files } = await fileServer({ store: elsewhere });
    const { file, url } = await stored(files, 'hello');
    const response = await fetch(url, { redirect: 'manual' });
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe(
      `https://s3.example.org/files/${file.id}/note.txt?as=text/plain; charset=utf-8&inline; filename="note.txt"`,
    );
    expect(response.headers.get('cache-control')).toBe('no-store');
    // The address is for GET, and for who does not have the file yet.
    const known = { 'if-none-match': `"${file.sha256}"` };
    expect((await fetch(url, { headers: known, redirect: 'manual' })).status).toBe(304);
    const head = await fetch(url, { method: 'HEAD', redirect: 'manual' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '5']);
  });

  test('gives out no address of the store that lives longer than its own', async () => {
    const asked: number[] = [];
    const elsewhere: ObjectStore = {
      ...world.store,
      address: async (_key, { expiresIn }) => {
        asked.push(expiresIn);
        return 'https://s3.example.org/';
      },
    };
    for (const urlTtlSeconds of [0, 60, 100_000]) {
      const { files } = await fileServer({ store: elsewhere, urlTtlSeconds });
      await fetch((await stored(files, 'x')).url, { redirect: 'manual' });
    }
    expect(asked).toEqual([3_600, 60, 3_600]);
  });

  test('lets go of the file when its reader goes away', async () => {
    const opened: Readable[] = [];
    const watched: ObjectStore = {
      ...world.store,
      async get(key, range) {
        const stream = await world.store.get(key, range);
        opened.push(stream);
        return stream;
      },
    };
    const { files, errors } = await fileServer({ store: watched });
    const { url } = await stored(files, Buffer.alloc(50_000_000));
    const request = httpRequest(url).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await once(response, 'readable');
    response.destroy();
    await expect.poll(() => opened.map(({ closed }) => closed)).toEqual([true]);
    expect(errors).toEqual([]);
  });

  test('passes on failures of the store that nobody has been answered about yet', async () => {
    const broken: ObjectStore = { ...world.store, get: () => Promise.reject(new Error('disk gone')) };
    const { files, errors } = await fileServer({ store: broken });
    const { url } = await stored(files, 'hello');
    await expect(fetch(url)).rejects.toThrow('fetch failed');
    expect(errors).toEqual([expect.objectContaining({ message: 'disk gone' })]);
  });
});
