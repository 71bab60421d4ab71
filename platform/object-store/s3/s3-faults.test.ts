import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { inspect } from 'node:util';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { startS3Server, type S3Server } from '../../../test/kit/object-store/s3-server.ts';
import { createLogger, silentLogger } from '../../process/logger.ts';
import type { S3Location, S3Limits } from './client.ts';
import { createS3Store, type S3Store } from './s3.ts';

const MEBIBYTE = 1024 * 1024;
const SECRET = 'a-secret-that-nobody-may-see';
const media = { contentType: 'video/mp4' };

let server: S3Server;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  server = await startS3Server();
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  await server.stop();
  await server.start();
});
afterAll(() => server.close());

function storeAt(change: Partial<S3Location> = {}, limits: S3Limits = {}, logger = silentLogger()): S3Store {
  const store = createS3Store({
    location: { ...server.location, ...change },
    cdnBaseUrl: null,
    logger,
    limits,
  });
  closing.push(() => store.close());
  return store;
}

/** A server of the test's own at which the store looks. */
async function storeBefore(listener: RequestListener, limits: S3Limits = {}, logger = silentLogger()) {
  const own = createServer(listener).listen(0, '127.0.0.1');
  await once(own, 'listening');
  closing.push(() => {
    own.closeAllConnections();
    own.close();
  });
  const endpoint = `http://127.0.0.1:${(own.address() as AddressInfo).port}`;
  return storeAt({ endpoint, secretAccessKey: SECRET }, limits, logger);
}

const newKey = () => `files/${randomUUID()}/film.mp4`;

/** A body that brings as many mebibytes as asked for, and then nothing. */
function createBody(mebibytes: number): PassThrough {
  const body = new PassThrough({ highWaterMark: 64 * MEBIBYTE });
  for (let count = 0; count < mebibytes; count += 1) body.write(Buffer.alloc(MEBIBYTE, count));
  return body;
}

async function catchError(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

describe('an upload in parts that does not come to its end', () => {
  test('over its limit leaves neither an object nor parts', async () => {
    const key = newKey();
    const body = createBody(30);
    const putting = storeAt().put(key, body, { ...media, maxBytes: 20 * MEBIBYTE });
    await expect(putting).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect([await server.keys(), await server.uploads()]).toEqual([[], []]);
    expect(body.destroyed).toBe(true);
  });

  test('aborted leaves neither an object nor parts', async () => {
    const abort = new AbortController();
    const body = createBody(20);
    const putting = catchError(storeAt().put(newKey(), body, { ...media, signal: abort.signal }));
    await expect.poll(() => server.uploads()).toHaveLength(1);
    abort.abort();
    expect(await putting).toMatchObject({ name: 'AbortError' });
    expect([await server.keys(), await server.uploads()]).toEqual([[], []]);
    expect(body.destroyed).toBe(true);
  });

  test('aborted before its beginning was answered deletes its parts', async () => {
    const abort = new AbortController();
    const requests: string[] = [];
    const store = await storeBefore(({ method, url = '' }, response) => {
      requests.push(`${method} ${url.slice(url.indexOf('?'))}`);
      if (method !== 'POST') {
        response.writeHead(204).end();
        return;
      }
      abort.abort();
      const started =
        '<InitiateMultipartUploadResult><UploadId>one</UploadId></InitiateMultipartUploadResult>';
      setImmediate(() => response.writeHead(200, { 'content-type': 'application/xml' }).end(started));
    });
    const putting = catchError(store.put(newKey(), createBody(20), { ...media, signal: abort.signal }));
    expect(await putting).toMatchObject({ name: 'AbortError' });
    expect(requests).toEqual(['POST ?uploads=', 'DELETE ?uploadId=one&x-id=AbortMultipartUpload']);
  });

  test('takes no more of its body than is being sent', async () => {
    let [taken, isAsked] = [0, false];
    const body = Readable.from(
      (function* mebibytes() {
        const chunk = Buffer.alloc(MEBIBYTE);
        for (; taken < 200; taken += 1) yield chunk;
      })(),
    );
    const abort = new AbortController();
    const store = await storeBefore(() => {
      isAsked = true;
    });
    const putting = catchError(store.put(newKey(), body, { ...media, signal: abort.signal }));
    await expect.poll(() => isAsked).toBe(true);
    abort.abort();
    await putting;
    expect(taken).toBeLessThan(100);
  });

  test('because the server is gone says so; what it left goes when the key is deleted', async () => {
    const key = newKey();
    const body = createBody(20);
    const store = storeAt();
    const putting = catchError(store.put(key, body, media));
    await expect.poll(() => server.uploads()).toHaveLength(1);
    await server.stop();
    for (let count = 0; count < 30; count += 1) body.write(Buffer.alloc(MEBIBYTE));
    expect(await putting).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'the object storage does not answer: check S3_ENDPOINT',
    });
    expect(body.destroyed).toBe(true);
    await expect(store.delete(key)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await server.start();
    expect([await server.keys(), await server.uploads()]).toEqual([[], [key]]);
    await store.delete(key);
    expect(await server.uploads()).toEqual([]);
  });
});

describe('what is wrong is named by its setting', () => {
  test.each<[Partial<S3Location>, string]>([
    [{ bucket: 'nobodys' }, 'S3_BUCKET'],
    [{ accessKeyId: 'STRANGER' }, 'S3_ACCESS_KEY_ID'],
    [{ endpoint: 'http://127.0.0.1:1' }, 'S3_ENDPOINT'],
  ])('%j', async (change, setting) => {
    const store = storeAt({ secretAccessKey: SECRET, ...change });
    const body = () => Readable.from([Buffer.from('x')]);
    for (const work of [() => store.check(), () => store.put(newKey(), body(), media)]) {
      const error = await catchError(work());
      expect(error).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining(setting) });
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(SECRET);
    }
    await expect(store.delete(newKey())).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  // s3rver takes any secret, so these are answers as AWS and MinIO give them.
  test.each([
    [403, 'SignatureDoesNotMatch', 'S3_SECRET_ACCESS_KEY'],
    [403, 'AccessDenied', 'S3_ACCESS_KEY_ID'],
    [400, 'AuthorizationHeaderMalformed', 'S3_REGION'],
    [301, 'PermanentRedirect', 'S3_REGION'],
    [403, 'RequestTimeTooSkewed', 'clock'],
    [507, 'XMinioStorageFull', 'HTTP 507'],
  ])('as S3 answers it: %i %s', async (status, code, word) => {
    const signed = `<StringToSign>of ${SECRET}</StringToSign>`;
    const answer = `<Error><Code>${code}</Code><Message>no</Message>${signed}</Error>`;
    const listener: RequestListener = (request, response) => {
      request.resume();
      response.writeHead(status, { 'content-type': 'application/xml' }).end(answer);
    };
    const store = await storeBefore(listener, { tries: 1 });
    const body = Readable.from([Buffer.from('x')]);
    for (const work of [() => store.put(newKey(), body, media), () => store.get(newKey())]) {
      const error = await catchError(work());
      expect(error).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining(word) });
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(SECRET);
    }
  });

  test('a check that went well counts for a while, one that did not never does', async () => {
    let requests = 0;
    const store = await storeBefore(
      (request, response) => {
        requests += 1;
        const begun = '<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>';
        if (requests === 1) response.writeHead(500).end();
        else if (request.method === 'DELETE') response.writeHead(204).end();
        else response.end(begun);
      },
      { tries: 1 },
    );
    await expect(store.check()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await Promise.all([store.check(), store.check()]);
    await store.check();
    expect(requests).toBe(3);
  });
});

describe('a server', () => {
  test('that fails is asked again, within a bound', async () => {
    let requests = 0;
    let failures = 1;
    const store = await storeBefore((request, response) => {
      requests += 1;
      request.resume();
      failures -= 1;
      response.writeHead(failures < 0 ? 200 : 503).end();
    });
    await store.put(newKey(), Readable.from([Buffer.from('x')]), media);
    expect(requests).toBe(2);
    failures = 100;
    const putting = store.put(newKey(), Readable.from([Buffer.from('x')]), media);
    await expect(putting).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('503'),
    });
    expect(requests).toBe(5);
  });

  test('that says nothing is not waited for without end', async () => {
    const store = await storeBefore((request) => void request.resume(), {
      responseMs: 200,
      silenceMs: 200,
      tries: 1,
    });
    await expect(store.head(newKey())).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    const putting = store.put(newKey(), Readable.from([Buffer.from('x')]), media);
    await expect(putting).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test('that breaks off within an object is told to whoever reads it', async () => {
    const store = await storeBefore((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.destroy());
    });
    await expect(buffer(await store.get(newKey()))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test('whose object nobody reads gets its connection back', async () => {
    let isGone = false;
    const store = await storeBefore((_, response) => {
      response.once('close', () => (isGone = true));
      response.writeHead(200, { 'content-length': MEBIBYTE });
      response.write('x');
    });
    (await store.get(newKey())).destroy();
    await expect.poll(() => isGone).toBe(true);
  });

  test('that can not list unfinished uploads deletes all the same; that is said once', async () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'warn', destination: { write: (line) => lines.push(line) } });
    const requests: string[] = [];
    const store = await storeBefore(
      (request, response) => {
        requests.push(request.method ?? '');
        response.writeHead(request.method === 'GET' ? 501 : 204).end();
      },
      { tries: 1 },
      logger,
    );
    await store.delete(newKey());
    await store.delete(newKey());
    expect(requests).toEqual(['GET', 'DELETE', 'DELETE']);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('unfinished uploads');
  });
});
