import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';

import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { graphql, rest, until } from '../../kit/clients/requests.ts';
import { migratedDatabase } from '../../kit/database/migrated.ts';
import type { TestDatabase } from '../../kit/database/postgres.ts';
import { extent } from '../../kit/extent.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';
import { spawnKiln, temporaryDataDir, type KilnProcess } from '../../kit/processes/kiln-process.ts';

const MEGABYTE = 1_000_000;
const MUTATION = 'mutation ($file: Upload!) { uploadFile(file: $file) { id url bytes sha256 contentType } }';
const PREFLIGHT = { 'apollo-require-preflight': 'true' };

/** A part of a multipart body: a text field, or so many megabytes of a file. */
type Part =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly megabytes: number };

/** Megabytes of a large file, and how much of it memory may grow by. */
const [LARGE, GROWTH] = extent([80, 55], [300, 150]);

const chunk = randomBytes(MEGABYTE);

function* writeBody(parts: readonly Part[]): Generator<string | Buffer> {
  for (const part of parts) {
    const file = 'text' in part ? '' : '; filename="big.bin"\r\nContent-Type: application/octet-stream';
    yield `--x\r\nContent-Disposition: form-data; name="${part.name}"${file}\r\n\r\n`;
    if ('text' in part) yield part.text;
    else for (let sent = 0; sent < part.megabytes; sent += 1) yield chunk;
    yield '\r\n';
  }
  yield '--x--\r\n';
}

async function post(url: string, parts: readonly Part[], headers: Readonly<Record<string, string>> = {}) {
  const answer = await request(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'multipart/form-data; boundary=x' },
    body: Readable.from(writeBody(parts)),
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the operation's; tests assert it
  return { status: answer.statusCode, body: (await answer.body.json()) as any };
}

/** What a GraphQL multipart request has in front of its file. */
const operation: readonly Part[] = [
  { name: 'operations', text: JSON.stringify({ query: MUTATION, variables: { file: null } }) },
  { name: 'map', text: '{"file":["variables.file"]}' },
];

function hashChunks(megabytes: number): string {
  const hash = createHash('sha256');
  for (let index = 0; index < megabytes; index += 1) hash.update(chunk);
  return hash.digest('hex');
}

async function objectsIn(dataDir: string): Promise<readonly string[]> {
  const entries = await readdir(`${dataDir}/files`, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

describe.runIf(process.platform === 'linux')(`a file of ${LARGE} MB`, () => {
  let database: TestDatabase;
  let home: Awaited<ReturnType<typeof temporaryDataDir>>;
  let kiln: KilnProcess;
  let url: string;
  beforeAll(async () => {
    database = await migratedDatabase();
    home = await temporaryDataDir();
    kiln = spawnKiln({ dataDir: home.dataDir, settings: { DATABASE_URL: database.connectionString } });
    url = await kiln.ready;
    // What the first upload of all loads is no matter of a file's size.
    await post(`${url}/api/file/upload`, [{ name: 'file', megabytes: 20 }]);
    await post(`${url}/graphql`, [...operation, { name: 'file', megabytes: 20 }], PREFLIGHT);
  });
  afterAll(async () => {
    await kiln.stop();
    await database.drop();
    home.remove();
  });

  /** Megabytes of the server process: what it holds now, and the most since `forgetPeak`. */
  async function memory(): Promise<{ readonly now: number; readonly peak: number }> {
    const status = await readFile(`/proc/${kiln.pid}/status`, 'utf8');
    const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1_000;
    return { now: of('VmRSS'), peak: of('VmHWM') };
  }
  const forgetPeak = () => writeFile(`/proc/${kiln.pid}/clear_refs`, '5');

  async function growthDuring(upload: () => Promise<void>): Promise<number> {
    const { now } = await memory();
    await forgetPeak();
    await upload();
    return Math.round((await memory()).peak - now);
  }

  const requests = [
    [
      'in front of another field',
      [
        { name: 'file', megabytes: LARGE },
        { name: 'note', text: 'behind' },
      ],
    ],
    [
      'behind another field',
      [
        { name: 'note', text: 'in front' },
        { name: 'file', megabytes: LARGE },
      ],
    ],
  ] as const;
  it.each(requests.slice(0, extent(1, 2)))('streams through REST %s', async (_, parts) => {
    const growth = await growthDuring(async () => {
      const { status, body } = await post(`${url}/api/file/upload/s3`, parts);
      expect([status, body]).toMatchObject([
        200,
        { status: true, extra: { bytes: LARGE * MEGABYTE, sha256: hashChunks(LARGE) } },
      ]);
      const hash = createHash('sha256');
      const { body: stored } = await request(body.data);
      for await (const bytes of stored) hash.update(bytes);
      expect(hash.digest('hex')).toBe(body.extra.sha256);
    });
    expect(growth).toBeLessThan(GROWTH);
  });

  it('streams through GraphQL', async () => {
    const growth = await growthDuring(async () => {
      const { body } = await post(
        `${url}/graphql`,
        [...operation, { name: 'file', megabytes: LARGE }],
        PREFLIGHT,
      );
      expect(body.data?.uploadFile).toMatchObject({ bytes: LARGE * MEGABYTE, sha256: hashChunks(LARGE) });
    });
    expect(growth).toBeLessThan(GROWTH);
  });

  it('is refused without the CSRF header, whose sender does not hang', async () => {
    const before = (await objectsIn(home.dataDir)).length;
    const { status, body } = await post(`${url}/graphql`, [...operation, { name: 'file', megabytes: 20 }]);
    expect([status, body.errors[0].message]).toEqual([
      400,
      expect.stringContaining('apollo-require-preflight'),
    ]);
    expect(await objectsIn(home.dataDir)).toHaveLength(before);
    expect((await graphql(url, '{ health { service } }')).data).toEqual({ health: { service: 'media' } });
  });
});

describe('the limit of uploads', () => {
  let kiln: KilnUnderTest;
  beforeAll(async () => {
    kiln = await startKiln({ settings: { UPLOAD_MAX_BYTES: '100000' } });
  });
  afterAll(() => kiln.close());

  const rowCount = async () =>
    (await kiln.runtime.database.pool.query('select from media.media')).rowCount ?? 0;

  function makeForm(name: string, bytes: number): FormData {
    const form = new FormData();
    form.set(name, new Blob([new Uint8Array(randomBytes(bytes))]), 'a.bin');
    return form;
  }

  function viaGraphql(bytes: number): Promise<Response> {
    const form = new FormData();
    for (const part of operation) if ('text' in part) form.set(part.name, part.text);
    for (const [name, file] of makeForm('file', bytes)) form.set(name, file);
    return fetch(`${kiln.url}/graphql`, { method: 'POST', headers: PREFLIGHT, body: form });
  }

  it('lets in a file of exactly its size', async () => {
    const { body } = await rest(kiln.url, 'POST', '/api/file/upload', makeForm('file', 100_000));
    expect(body).toMatchObject({ status: true, extra: { bytes: 100_000 } });
    expect(await (await viaGraphql(100_000)).json()).toMatchObject({
      data: { uploadFile: { bytes: 100_000 } },
    });
    expect(await rowCount()).toBe(2);
    expect(await objectsIn(kiln.dataDir)).toHaveLength(2);
  });

  it.each([100_001, 3_000_000])('refuses a file of %i bytes, and nothing of it is stored', async (bytes) => {
    const before = [await rowCount(), (await objectsIn(kiln.dataDir)).length];
    for (const [path, name] of [
      ['/api/file/upload', 'file'],
      ['/api/file/upload/s3', 'file'],
      ['/api/agg/imga/sync/image?prompt=x', 'img_file'],
    ] as const) {
      const { status, body } = await rest(kiln.url, 'POST', path, makeForm(name, bytes));
      expect([status, body]).toEqual([
        413,
        { status: false, data: null, msg: expect.stringContaining('100000') },
      ]);
    }
    const { errors } = (await (await viaGraphql(bytes)).json()) as { errors: object[] };
    expect(errors[0]).toMatchObject({
      message: expect.stringContaining('100000'),
      extensions: { code: 'PAYLOAD_TOO_LARGE' },
    });
    expect([await rowCount(), (await objectsIn(kiln.dataDir)).length]).toEqual(before);
    const { rowCount: tasks } = await kiln.runtime.database.pool.query('select from media.tasks');
    expect(tasks).toBe(0);
  });

  it('stores nothing of a file whose sender goes away, or of a request that is refused', async () => {
    const before = [await rowCount(), (await objectsIn(kiln.dataDir)).length];
    const abort = new AbortController();
    async function* beginning() {
      yield '--x\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n';
      yield randomBytes(50_000);
      await new Promise((resolve) => abort.signal.addEventListener('abort', resolve));
    }
    const sending = request(`${kiln.url}/api/file/upload`, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: Readable.from(beginning()),
      signal: abort.signal,
    });
    await until(rowCount, (count) => count === (before[0] ?? 0) + 1);
    abort.abort();
    await expect(sending).rejects.toThrow('aborted');
    await until(rowCount, (count) => count === before[0]);

    const refused = await rest(
      kiln.url,
      'POST',
      '/api/agg/imga/sync/image?max_wait_time=x',
      makeForm('img_file', 500),
    );
    expect(refused.status).toBe(422);
    expect([await rowCount(), (await objectsIn(kiln.dataDir)).length]).toEqual(before);
  });
});
