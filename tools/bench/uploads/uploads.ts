import { createHash, randomBytes, type Hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';

import { request } from 'undici';

import { externalS3Settings } from '../../../test/kit/object-store/s3-server.ts';
import type { Bench, Figure, BenchTools } from '../bench.ts';
import { startBenchedKiln } from '../kiln.ts';
import { memoryMiB, peakMemoryMiB, startProgram } from '../processes.ts';

const MEBIBYTE = 1024 * 1024;
/** Mebibytes of the file, and of the one that it is held against. */
const LARGE = 1024;
const SMALL = 64;
/** A large file each; more would only fill the disk. */
const ROUNDS = 3;

/** Uploads of 1 GiB through REST into a bucket: the same bytes come back, and memory does not follow the size. */
export const uploads: Bench = {
  name: 'uploads',
  async run(tools) {
    const kiln = await startBenchedKiln(tools, {
      ...(externalS3Settings() ?? (await startBucket(tools))),
      UPLOAD_MAX_BYTES: String(2 * LARGE * MEBIBYTE),
    });
    const chunk = randomBytes(MEBIBYTE);
    const found: Record<number, Upload[]> = { [SMALL]: [], [LARGE]: [] };
    // What the first upload of all loads is no matter of a file's size.
    await upload(kiln, { chunk, mebibytes: SMALL });
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const mebibytes of [SMALL, LARGE]) {
        const measured = await upload(kiln, { chunk, mebibytes });
        found[mebibytes]?.push(measured);
        tools.say(
          `round ${round}: ${mebibytes} MiB in ${measured.seconds.toFixed(1)} s, ${figures(measured)}`,
        );
      }
    }
    return [createFigure(found[SMALL] ?? [], found[LARGE] ?? [])];
  },
};

async function startBucket({ lifecycle }: BenchTools): Promise<Readonly<Record<string, string>>> {
  const program = new URL('s3-process.ts', import.meta.url);
  const bucket = await startProgram<{ readonly settings: Readonly<Record<string, string>> }>(program);
  lifecycle.add('bucket', () => bucket.stop());
  return bucket.ready.settings;
}

/** Mebibytes of resident memory: before, and the most meanwhile; null where the system does not tell. */
interface Upload {
  readonly seconds: number;
  readonly before: number | null;
  readonly peak: number | null;
}

function createFigure(small: readonly Upload[], large: readonly Upload[]): Figure {
  const [typical] = large.toSorted((one, other) => one.seconds - other.seconds).slice(large.length / 2);
  return {
    what: `resident memory while ${LARGE} MiB go through REST into a bucket`,
    ours: findPeak(large),
    baseline: `${SMALL} MiB: ${findPeak(small)}`,
    ratio: null,
    note: `${typical?.seconds.toFixed(1)} s each; sha256 equal on the way in and when read back`,
  };
}

function findPeak(found: readonly Upload[]): string {
  const peaks = found.flatMap(({ peak }) => (peak === null ? [] : [peak]));
  return peaks.length === 0 ? 'not known on this system' : `at most ${Math.round(Math.max(...peaks))} MiB`;
}

function figures({ before, peak }: Upload): string {
  if (before === null || peak === null) return 'memory not known on this system';
  return `memory ${Math.round(before)} MiB, at most ${Math.round(peak)} MiB`;
}

/** Uploads, reads back through the address that Kiln gives, and throws when a single byte differs. */
async function upload(
  kiln: { readonly url: string; readonly pid: number },
  { chunk, mebibytes }: { readonly chunk: Buffer; readonly mebibytes: number },
): Promise<Upload> {
  const sent = createHash('sha256');
  const before = memoryMiB(kiln.pid);
  forgetPeak(kiln.pid);
  const startedAt = performance.now();
  const { statusCode, body } = await request(`${kiln.url}/api/file/upload/s3`, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    body: Readable.from(writeForm(chunk, mebibytes, sent)),
    headersTimeout: 600_000,
  });
  const answer = (await body.json()) as {
    readonly data: string;
    readonly extra: { readonly sha256: string };
  };
  const seconds = (performance.now() - startedAt) / 1000;
  const peak = peakMemoryMiB(kiln.pid);
  if (statusCode !== 200) throw new Error(`the upload answered ${statusCode}: ${JSON.stringify(answer)}`);
  const sha256 = sent.digest('hex');
  if (answer.extra.sha256 !== sha256) throw new Error('Kiln counted another sha256 than was sent');
  if ((await hashDownload(answer.data)) !== sha256) throw new Error('other bytes were read back');
  return { seconds, before, peak };
}

function* writeForm(chunk: Buffer, mebibytes: number, hash: Hash): Generator<string | Buffer> {
  yield '--x\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n\r\n';
  for (let sent = 0; sent < mebibytes; sent += 1) {
    hash.update(chunk);
    yield chunk;
  }
  yield '\r\n--x--\r\n';
}

/** By redirect, as any reader of the address comes to the bucket. */
async function hashDownload(url: string): Promise<string> {
  const { body } = await fetch(url);
  const hash = createHash('sha256');
  for await (const bytes of body ?? []) hash.update(bytes);
  return hash.digest('hex');
}

function forgetPeak(pid: number): void {
  if (process.platform === 'linux') writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
