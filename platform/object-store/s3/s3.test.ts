import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import { CreateMultipartUploadCommand, ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { extent } from '../../../test/kit/extent.ts';
import { externalS3Settings, startS3Server } from '../../../test/kit/object-store/s3-server.ts';
import { readConfig } from '../../config/config.ts';
import { silentLogger } from '../../process/logger.ts';
import { objectStoreContract } from '../object-store.contract.ts';
import { createS3Client, type S3Location } from './client.ts';
import { createS3Store, type S3Store } from './s3.ts';

let location: S3Location;
let store: S3Store;
let end: () => Promise<void>;

beforeAll(async () => {
  const given = externalS3Settings();
  const server = given === null ? await startS3Server() : null;
  const named = server?.location ?? readConfig(given ?? {}).files.s3;
  if (named === null) throw new Error('S3_UNDER_TEST needs the S3_* settings of a server');
  location = named;
  end = async () => server?.close();
  store = createS3Store({ location, cdnBaseUrl: null, logger: silentLogger() });
});

afterAll(async () => {
  store.close();
  await end();
});

objectStoreContract('the S3 store', () => store);

const MEBIBYTE = 1024 * 1024;
const newKey = () => `files/${randomUUID()}/猫 1.bin`;

describe('the S3 store', () => {
  test('makes one object of a body that comes in parts', async () => {
    const key = newKey();
    const content = randomBytes(extent(9, 20) * MEBIBYTE);
    const chunks = Array.from({ length: content.length / 2 ** 18 }, (_, index) =>
      content.subarray(index * 2 ** 18, (index + 1) * 2 ** 18),
    );
    const stored = await store.put(key, Readable.from(chunks), { contentType: 'video/mp4' });
    expect(stored.bytes).toBe(content.length);
    expect(stored.sha256).toBe(createHash('sha256').update(content).digest('hex'));
    expect(await store.head(key)).toEqual({ ...stored, sha256: null });
    expect(content.equals(await buffer(await store.get(key)))).toBe(true);
    const acrossParts = { start: 8 * MEBIBYTE - 5, end: 8 * MEBIBYTE + 4 };
    const part = await buffer(await store.get(key, acrossParts));
    expect(part.equals(content.subarray(acrossParts.start, acrossParts.end + 1))).toBe(true);
    await store.delete(key);
  });

  test('gives out addresses that answer as they were told, for their time', async () => {
    const key = newKey();
    await store.put(key, Readable.from([Buffer.from('{}')]), { contentType: 'text/plain' });
    const contentDisposition = `attachment; filename="_.json"; filename*=UTF-8''${encodeURIComponent('猫.json')}`;
    const told = { contentType: 'application/json', contentDisposition };
    const address = (await store.address(key, { expiresIn: 60, ...told })) ?? '';
    const response = await fetch(address, { headers: { range: 'bytes=1-1' } });
    expect([response.status, await response.text()]).toEqual([206, '}']);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('content-disposition')).toBe(contentDisposition);
    const old = new URL(address);
    old.searchParams.set('X-Amz-Date', '20200101T000000Z');
    expect([400, 403]).toContain((await fetch(old)).status);
    await store.delete(key);
  });

  test('gives unfinished parts back with the object they would have become', async () => {
    const key = newKey();
    const at = { Bucket: location.bucket, Key: key };
    const client = createS3Client(location, silentLogger());
    await client.send(new CreateMultipartUploadCommand(at));
    const unfinished = async () => {
      const request = { Bucket: location.bucket, Prefix: key };
      return (
        (await client.send(new ListMultipartUploadsCommand(request))).Uploads?.map(({ Key }) => Key) ?? []
      );
    };
    expect(await unfinished()).toEqual([key]);
    await store.delete(`${key}.other`);
    expect(await unfinished()).toEqual([key]);
    await store.delete(key);
    expect(await unfinished()).toEqual([]);
    client.destroy();
  });

  test('sends readers to the CDN when there is one', async () => {
    const cdn = createS3Store({ location, cdnBaseUrl: 'https://cdn.example.org/x', logger: silentLogger() });
    expect(await cdn.address('files/1/a b.png', { expiresIn: 60 })).toBe(
      'https://cdn.example.org/x/files/1/a%20b.png',
    );
    cdn.close();
  });
});
