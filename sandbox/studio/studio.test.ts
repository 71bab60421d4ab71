import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { silentLogger } from '../../platform/process/logger.ts';
import { createStudio } from './studio.ts';
import { sizeFor } from './types/size.ts';
import type { Studio } from './types/studio.ts';
import { createWorkerPool } from './worker/pool.ts';

let studio: Studio;

beforeAll(() => {
  studio = createStudio({ size: 'small', logger: silentLogger() });
});
afterAll(() => studio.close());

const pixels = (file: Buffer) => sharp(file).removeAlpha().raw().toBuffer();

test.each([
  ['16:9', 'png'],
  ['9:16', 'jpeg'],
  ['1:1', 'webp'],
] as const)('renders a valid image of %s as %s, its prompt in XMP', async (aspectRatio, format) => {
  const prompt = 'a <red> boat & "灯塔"';
  const image = await studio.image({ prompt, aspectRatio, format });
  const metadata = await sharp(image.bytes).metadata();
  expect(metadata).toMatchObject({ format, width: image.width, height: image.height });
  const [wide, high] = aspectRatio.split(':').map(Number);
  expect(image.width / image.height).toBeCloseTo((wide ?? 1) / (high ?? 1), 1);
  expect(metadata.xmp?.toString('utf8')).toContain('a &lt;red&gt; boat &amp; &quot;灯塔&quot;');
  expect(metadata.xmp?.toString('utf8')).toContain(`kiln:seed="${image.seed}"`);
  await sharp(image.bytes).stats(); // decodes every pixel, or throws
  expect((await sharp(image.preview).metadata()).format).toBe('webp');
});

test('makes the same pixels of the same prompt and seed, others of others', async () => {
  const request = { prompt: 'a lighthouse at dusk', hasCaption: false };
  const make = async (more: object) => pixels((await studio.image({ ...request, ...more })).bytes);
  const [one, again, otherSeed, otherPrompt] = [
    await make({}),
    await make({}),
    await make({ seed: 5 }),
    await make({ prompt: 'a lighthouse at dusk again' }),
  ];
  expect(again.equals(one)).toBe(true);
  expect(difference(one, otherSeed)).toBeGreaterThan(5);
  expect(difference(one, otherPrompt)).toBeGreaterThan(5);
});

test('a reference image changes the image', async () => {
  const red = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const plain = await studio.image({ prompt: 'a blue sea', seed: 1 });
  const blended = await studio.image({ prompt: 'a blue sea', seed: 1, references: [red] });
  const redness = async (file: Buffer) => (await sharp(file).stats()).channels[0]?.mean ?? 0;
  expect(await redness(blended.bytes)).toBeGreaterThan((await redness(plain.bytes)) + 20);
});

test('makes an exact size, also the smallest of a web UI, and refuses one that is too large', async () => {
  const smallest = await studio.image({ prompt: 'a boat', size: { width: 8, height: 8 } });
  expect(await sharp(smallest.bytes).metadata()).toMatchObject({ width: 8, height: 8 });
  const image = await studio.image({ prompt: 'a boat', size: { width: 320, height: 200 } });
  expect([image.width, image.height]).toEqual([320, 200]);
  await expect(studio.image({ prompt: 'a boat', size: { width: 9_000, height: 10 } })).rejects.toThrow(
    '4096',
  );
});

test('reports growing progress with named stages', async () => {
  const seen: [number, string][] = [];
  await studio.image(
    { prompt: 'a boat in the rain' },
    { onProgress: (percent, stage) => seen.push([percent, stage]) },
  );
  expect(seen.length).toBeGreaterThan(5);
  expect(seen.map(([percent]) => percent)).toEqual(
    seen.map(([percent]) => percent).toSorted((a, b) => a - b),
  );
  expect(seen.map(([, stage]) => stage)).toContain('boat');
});

test('describes what it measures, and quotes what the file says about itself', async () => {
  const image = await studio.image({ prompt: 'a red boat', aspectRatio: '16:9' });
  const own = await studio.describe(image.bytes);
  expect(own.prompts).toHaveLength(4);
  expect(own.prompts.every((prompt) => prompt.includes('a red boat') && prompt.endsWith('--ar 16:9'))).toBe(
    true,
  );
  expect(own.note).toContain('a red boat');

  const tall = await studio.image({ prompt: 'a boat', aspectRatio: '9:16' });
  expect((await studio.describe(tall.bytes)).prompts[0]).toMatch(/--ar 9:16$/);

  const plain = await sharp({ create: { width: 40, height: 80, channels: 3, background: '#2d5fc8' } })
    .jpeg()
    .toBuffer();
  const measured = await studio.describe(plain);
  expect(measured).toMatchObject({ width: 40, height: 80, format: 'jpeg' });
  expect(measured.palette[0]).toMatchObject({ name: 'blue', share: 1 });
  expect(measured.caption).toContain('Tall portrait 40x80');
  expect(measured.note).toContain('not recognised');
});

test('says so when the bytes are no image', async () => {
  await expect(studio.describe(Buffer.from('hello'))).rejects.toMatchObject({ name: 'UnreadableImage' });
});

test('cancelling rejects with the reason, and the next request is served', async () => {
  const abort = new AbortController();
  const reason = new Error('changed my mind');
  const rendering = studio.image(
    { prompt: 'a boat' },
    { signal: abort.signal, onProgress: () => abort.abort(reason) },
  );
  await expect(rendering).rejects.toBe(reason);
  expect((await studio.image({ prompt: 'a boat' })).bytes.length).toBeGreaterThan(0);
});

test('a worker that dies fails its own request alone; worn out ones are replaced', async () => {
  const pool = createWorkerPool({
    workers: 1,
    queueLimit: 1,
    timeoutMs: 60_000,
    requestsPerWorker: 1,
    maxRssBytes: 1e9,
  });
  try {
    const image = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const crash = pool.run({ kind: 'crash' }, {});
    const waiting = pool.run({ kind: 'describe', image }, {});
    await expect(pool.run({ kind: 'describe', image }, {})).rejects.toThrow('too many');
    await expect(crash).rejects.toThrow('died');
    expect(await waiting).toMatchObject({ width: 8 });
    expect(await pool.run({ kind: 'describe', image }, {})).toMatchObject({ width: 8 });
  } finally {
    await pool.close();
  }
  await expect(pool.run({ kind: 'crash' }, {})).rejects.toThrow('closing');
});

test('a request that takes too long is given up', async () => {
  const pool = createWorkerPool({
    workers: 1,
    queueLimit: 1,
    timeoutMs: 1,
    requestsPerWorker: 9,
    maxRssBytes: 1e9,
  });
  try {
    await expect(pool.run({ kind: 'describe', image: Buffer.from('x') }, {})).rejects.toMatchObject({
      name: 'TimeoutError',
    });
  } finally {
    await pool.close();
  }
});

test('turns ratios into even sizes', () => {
  expect(sizeFor('16:9', 1_024)).toEqual({ width: 1_024, height: 576 });
  expect(sizeFor('9:16', 1_024)).toEqual({ width: 576, height: 1_024 });
  expect(sizeFor('3:2', 1_024)).toEqual({ width: 1_024, height: 682 });
  expect(sizeFor(undefined, 512)).toEqual({ width: 512, height: 512 });
  expect(sizeFor('100:1', 1_024)).toEqual({ width: 1_024, height: 256 });
  expect(sizeFor('wide', 1_024)).toEqual({ width: 1_024, height: 1_024 });
});

/** Mean difference of two images' channels, 0 to 255. */
function difference(one: Buffer, other: Buffer): number {
  let sum = 0;
  for (let index = 0; index < one.length; index += 1)
    sum += Math.abs((one[index] ?? 0) - (other[index] ?? 0));
  return sum / one.length;
}
