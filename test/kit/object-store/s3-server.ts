import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import S3rver, { type Context, type Store } from 's3rver';

import type { S3Location } from '../../../platform/object-store/s3/client.ts';

/**
 * An S3 server for tests: s3rver, which keeps objects and parts as files. Where it is not like S3 it is helped: it can't
 * list or abort uploads in parts, and replaces an object under the eyes of its readers. What remains: it believes every
 * signature of a key it knows, and takes a range that ends at 0 for one without an end.
 */
export interface S3Server {
  readonly location: S3Location;
  /** The settings of a Kiln that keeps its files there. */
  readonly settings: Readonly<Record<string, string>>;
  /** Keys of the objects there are. */
  keys(): Promise<string[]>;
  /** Keys of the uploads in parts that have not ended. */
  uploads(): Promise<string[]>;
  /** Ends it in the middle of whatever it does; what it has stays. */
  stop(): Promise<void>;
  /** Again at the same address. */
  start(): Promise<void>;
  /** Ends it and removes everything. */
  close(): Promise<void>;
}

/**
 * The settings of a server outside the tests: those of the environment with S3_UNDER_TEST=1 (CONTRIBUTING.md), else
 * null. A bucket that only happens to be configured is left alone.
 */
export function externalS3Settings(): Readonly<Record<string, string>> | null {
  if (process.env['S3_UNDER_TEST'] !== '1') return null;
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      name.startsWith('S3_') && name !== 'S3_UNDER_TEST' && value !== undefined ? [[name, value]] : [],
    ),
  );
}

const BUCKET = 'kiln';
/** The keys that s3rver knows, and no others. */
const KEY = 'S3RVER';

export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(path.join(tmpdir(), 'kiln-s3-'));
  const uploads = path.join(directory, BUCKET, '._S3rver_uploads');
  let { server, port } = await run(directory, 0);

  async function stop(): Promise<void> {
    const { httpServer } = server;
    if (httpServer?.listening !== true) return;
    const closed = once(httpServer, 'close');
    httpServer.close();
    httpServer.closeAllConnections();
    await closed;
  }
  const location = {
    endpoint: `http://127.0.0.1:${port}`,
    bucket: BUCKET,
    region: 'us-east-1',
    accessKeyId: KEY,
    secretAccessKey: KEY,
  };
  return {
    location,
    settings: {
      S3_ENDPOINT: location.endpoint,
      S3_BUCKET: BUCKET,
      S3_ACCESS_KEY_ID: KEY,
      S3_SECRET_ACCESS_KEY: KEY,
    },
    async keys() {
      const files = await readdir(path.join(directory, BUCKET), { recursive: true });
      const ending = '._S3rver_metadata.json';
      return files.filter((file) => file.endsWith(ending)).map((file) => file.slice(0, -ending.length));
    },
    uploads: async () => (await unfinished(uploads)).map(({ key }) => key),
    stop,
    async start() {
      ({ server, port } = await run(directory, port));
    },
    async close() {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function run(directory: string, port: number) {
  const configureBuckets = [{ name: BUCKET }];
  const options = {
    address: '127.0.0.1',
    port,
    directory,
    silent: true,
    vhostBuckets: false,
    configureBuckets,
  };
  const server = new S3rver(options);
  // A connection that breaks is part of the tests.
  server.on('error', () => undefined);
  server.middleware.unshift((context, next) => uploadsInParts(server.store, context, next));
  replaceWhole(server.store);
  return { server, port: (await server.run()).port };
}

/** ListMultipartUploads and AbortMultipartUpload, over the folder that s3rver keeps its parts in. */
async function uploadsInParts(store: Store, context: Context, next: () => Promise<void>): Promise<void> {
  const folder = store.getResourcePath(BUCKET, undefined, 'uploads');
  const { uploads, uploadId, prefix = '' } = context.query;
  if (context.method === 'GET' && uploads !== undefined) {
    const found = (await unfinished(folder)).filter(({ key }) => key.startsWith(prefix));
    const listed = found.map(({ key, id }) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`);
    context.type = 'application/xml';
    context.body = `<ListMultipartUploadsResult>${listed.join('')}</ListMultipartUploadsResult>`;
  } else if (context.method === 'DELETE' && uploadId !== undefined) {
    await rm(path.join(folder, path.basename(uploadId)), { recursive: true, force: true });
    context.status = 204;
  } else {
    await next();
  }
}

async function unfinished(folder: string): Promise<{ readonly id: string; readonly key: string }[]> {
  const ids = await readdir(folder).catch(() => []);
  return Promise.all(
    ids.map(async (id) => ({ id, key: await readFile(path.join(folder, id, 'key'), 'utf8') })),
  );
}

/** Takes the old object away first, so that whoever reads it goes on reading the old file. */
function replaceWhole(store: Store): void {
  const put = store.putObject.bind(store);
  store.putObject = async (object) => {
    await rm(store.getResourcePath(object.bucket, object.key, 'object'), { force: true });
    return put(object);
  };
}
