import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';

import { request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { Caller } from '../../../platform/access/caller.ts';
import { mediaDatabase } from '../../../subgraphs/media/database/database.ts';
import { createFileService } from '../../../subgraphs/media/files/service.ts';
import { graphql, rest, taskEnd, until } from '../../kit/clients/requests.ts';
import { extent } from '../../kit/extent.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';
import { startS3Server, type S3Server } from '../../kit/object-store/s3-server.ts';

/** A whole Kiln that keeps its files in a bucket: how they come and go, and what happens while the bucket is away. */

const MEBIBYTE = 1024 * 1024;
const CDN = 'https://cdn.example.org/media';

let s3: S3Server;
let kiln: KilnUnderTest;
beforeAll(async () => {
  s3 = await startS3Server();
  // What is refused here is a fault of the test's own making, and logged.
  kiln = await startKiln({ isQuick: true, settings: s3.settings, logLevel: 'silent' });
});
afterAll(async () => {
  await kiln?.close();
  await s3?.close();
});

function makeForm(content: Buffer, name: string, type: string): FormData {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(content)], { type }), name);
  return form;
}

const upload = (url: string, content: Buffer, name = 'note.txt', type = 'text/plain') =>
  rest(url, 'POST', '/api/file/upload/s3', makeForm(content, name, type));

const hashContent = (content: Buffer) => createHash('sha256').update(content).digest('hex');
const filesWaiting = async () =>
  (await kiln.runtime.database.pool.query('select id from media.media where state <> $1', ['STORED']))
    .rowCount;

/** What the pruner of the worker does each minute. */
function prune(): Promise<number> {
  const { database, store, logger } = kiln.runtime;
  const settings = { publicUrl: kiln.url, cdnBaseUrl: null, urlTtlSeconds: 0, secret: 'x' };
  return createFileService({ database: mediaDatabase(database), store, logger, ...settings }).prune(100);
}

describe('a file in the bucket', () => {
  it('comes from a fresh address of the bucket, with its measured type and its name', async () => {
    const content = randomBytes(extent(9, 20) * MEBIBYTE);
    const { status, body } = await upload(kiln.url, content, 'ノート 1.bin', 'application/octet-stream');
    expect([status, body]).toMatchObject([
      200,
      { extra: { bytes: content.length, sha256: hashContent(content) } },
    ]);
    expect(body.data).toMatch(`${kiln.url}/files/${body.extra.key}/`);

    const redirect = await fetch(body.data, { redirect: 'manual' });
    expect([redirect.status, redirect.headers.get('cache-control')]).toEqual([302, 'no-store']);
    expect(redirect.headers.get('location')).toMatch(`${s3.location.endpoint}/kiln/files/${body.extra.key}/`);

    const response = await fetch(body.data);
    expect(hashContent(Buffer.from(await response.arrayBuffer()))).toBe(body.extra.sha256);
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; .*filename\*=UTF-8''/);
    const part = await fetch(body.data, { headers: { range: 'bytes=5-9' } });
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, content.subarray(5, 10)]);
    const head = await fetch(body.data, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(content.length)]);
  });

  it('goes from the bucket when it is deleted', async () => {
    const { body } = await upload(kiln.url, Buffer.from('going'));
    const isThere = async () => (await s3.keys()).some((key) => key.includes(body.extra.key));
    expect(await isThere()).toBe(true);
    const mutation = 'mutation ($id: ID!) { deleteMedia(id: $id) { id } }';
    expect((await graphql(kiln.url, mutation, { id: body.extra.key })).errors).toBeUndefined();
    expect(await isThere()).toBe(false);
    expect((await fetch(body.data)).status).toBe(404);
  });

  it('goes from the bucket with the task that has made it, and its thumbnail', async () => {
    const before = await s3.keys();
    const caller: Caller = { kind: 'user', id: 'usr_ann', scopes: [], traceId: 'test', address: null };
    const context = { caller, signal: new AbortController().signal };
    const ask = async (query: string) => {
      const { data } = await kiln.federation.execute({ query, variables: {}, context });
      // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the query's
      return data as any;
    };
    const { id } = (
      await ask('mutation { generateImage(input: { generator: "imga", prompt: "going" }) { id } }')
    ).generateImage;
    const { task } = await until(
      () => ask(`{ task(id: "${id}") { state outputs { thumbnail(width: 64) } } }`),
      (data) => data.task.state === 'SUCCEEDED',
    );
    expect((await fetch(task.outputs[0].thumbnail)).status).toBe(200);
    expect((await s3.keys()).length).toBeGreaterThan(before.length + 1);
    expect(await ask(`mutation { deleteTask(id: "${id}") }`)).toEqual({ deleteTask: true });
    await until(
      () => s3.keys(),
      (keys) => keys.length === before.length,
    );
  });

  it('is what a task makes of a file in the bucket', async () => {
    const { body } = await rest(kiln.url, 'POST', '/api/task/create/task', {
      task_type: 'chop',
      prompt: 'a fox',
    });
    const made = await taskEnd(kiln.url, body.data);
    expect(made.body.status).toBe(true);
    const answer = await fetch(made.body.data.url);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png']);
    const query =
      'mutation ($id: ID!) { describeImage(generator: "agg/imga", image: { fileId: $id }) { id } }';
    const id = new URL(made.body.data.url).pathname.split('/')[2];
    const { data } = await graphql(kiln.url, query, { id });
    expect((await taskEnd(kiln.url, data.describeImage.id)).body.status).toBe(true);
  });

  it('is told at the CDN where one is asked for, and read there', async () => {
    const behind = await startKiln({ settings: { ...s3.settings, CDN_BASE_URL: CDN } });
    try {
      const { body } = await upload(behind.url, Buffer.from('<script>'), 'page.html', 'text/html');
      const address = `${CDN}/files/${body.extra.key}/page.html`;
      expect(body.data).toBe(address);
      const own = `${behind.url}/files/${body.extra.key}/page.html`;
      expect((await fetch(own, { redirect: 'manual' })).headers.get('location')).toBe(address);
      // Nothing of ours stands between the CDN and the browser: the object itself says that it is not to be shown.
      const object = await request(`${s3.location.endpoint}/kiln/files/${body.extra.key}/page.html`);
      await object.body.dump();
      expect(object.headers['content-disposition']).toBe('attachment; filename="page.html"');
      const plain = await rest(
        behind.url,
        'POST',
        '/api/file/upload',
        makeForm(Buffer.from('x'), 'x.txt', 'text/plain'),
      );
      expect(plain.body.data).toMatch(`${behind.url}/files/`);
    } finally {
      await behind.close();
    }
  });
});

describe('while the bucket is away', () => {
  beforeEach(async () => {
    await s3.stop();
    return () => s3.start();
  });

  it('Kiln starts all the same, is degraded and not taken out, and is ready when the bucket is back', async () => {
    const early = await startKiln({ settings: s3.settings, logLevel: 'silent' });
    try {
      const ready = async () => {
        const { status, body } = await rest(early.url, 'GET', '/readyz');
        return [status, body.status, body.failing, body.degraded];
      };
      expect(await ready()).toEqual([200, 'degraded', [], ['files']]);
      await s3.start();
      expect(await ready()).toEqual([200, 'ready', [], undefined]);
      await s3.stop();
    } finally {
      await early.close();
    }
  });

  it('an upload is refused clearly, and nothing stays of it', async () => {
    const keys = await s3.keys();
    const { status, body } = await upload(kiln.url, Buffer.from('lost'));
    expect([status, body]).toEqual([
      503,
      { status: false, data: null, msg: expect.stringContaining('the object storage does not answer') },
    ]);
    await s3.start();
    await prune();
    expect([await s3.keys(), await s3.uploads(), await filesWaiting()]).toEqual([keys, [], 0]);
    expect((await upload(kiln.url, Buffer.from('kept'))).status).toBe(200);
    await s3.stop();
  });

  it('an upload that it breaks off in its middle is refused clearly, and nothing stays of it', async () => {
    await s3.start();
    const keys = await s3.keys();
    const body = new PassThrough({ highWaterMark: 64 * MEBIBYTE });
    body.write('--x\r\nContent-Disposition: form-data; name="file"; filename="film.mp4"\r\n\r\n');
    for (let count = 0; count < 20; count += 1) body.write(randomBytes(MEBIBYTE));
    const answering = request(`${kiln.url}/api/file/upload/s3`, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body,
    });
    await until(
      () => s3.uploads(),
      (uploads) => uploads.length === 1,
    );
    await s3.stop();
    for (let count = 0; count < 20; count += 1) body.write(randomBytes(MEBIBYTE));
    body.end('\r\n--x--\r\n');
    const { statusCode, body: answer } = await answering;
    expect([statusCode, await answer.json()]).toEqual([
      503,
      { status: false, data: null, msg: expect.stringContaining('the object storage does not answer') },
    ]);
    await s3.start();
    await prune();
    expect([await s3.keys(), await s3.uploads(), await filesWaiting()]).toEqual([keys, [], 0]);
    await s3.stop();
    if (!body.closed) await once(body, 'close');
  });

  it('a finished generation waits, and stores its result when the bucket is back', async () => {
    const mutation = 'mutation { generateImage(input: { generator: "agg/imga", prompt: "a fox" }) { id } }';
    const { id } = (await graphql(kiln.url, mutation)).data.generateImage;
    const read = async () =>
      (
        await graphql(kiln.url, 'query ($id: ID!) { task(id: $id) { state stage attempts { state } } }', {
          id,
        })
      ).data.task;
    const waiting = await until(read, ({ stage }) => stage === 'storing result');
    expect(waiting.attempts).toEqual([{ state: 'SUCCEEDED' }]);
    // Two tries have failed by then, each after a refused connection.
    await until(filesWaiting, (count) => (count ?? 0) >= 2);
    expect((await read()).state).toBe('RUNNING');
    await s3.start();
    const end = await taskEnd(kiln.url, id);
    expect(end.body.status).toBe(true);
    expect((await fetch(end.body.data.url)).headers.get('content-type')).toBe('image/png');
    expect((await read()).attempts).toEqual([{ state: 'SUCCEEDED' }]);
    await prune();
    expect([await s3.uploads(), await filesWaiting()]).toEqual([[], 0]);
    await s3.stop();
  });
});
