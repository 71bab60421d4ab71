import { Readable } from 'node:stream';

import { BufferTarget, EncodedPacket, EncodedVideoPacketSource, Output, WebMOutputFormat } from 'mediabunny';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';

import { silence } from '../../../test/kit/samples/wav.ts';
import type { Measures } from './measurable.ts';
import { measureMedia } from './measure.ts';

interface Sent {
  readonly declaredType?: string;
  readonly name?: string;
}

function measure(content: Buffer, { declaredType, name = 'file' }: Sent = {}): Promise<Measures> {
  return measureMedia({
    open: async (range) => Readable.from([content.subarray(range?.start, range && range.end + 1)]),
    bytes: content.length,
    declaredType: declaredType ?? null,
    name,
  });
}

function createImage(width: number, height: number) {
  return sharp({ create: { width, height, channels: 3, background: '#d08030' } });
}

test('samples without a header are what they are declared as, whatever they begin like', async () => {
  // As an icon does.
  const samples = Buffer.from([0, 0, 1, 0, 254, 255, 3, 0]);
  const declaredType = 'audio/pcm;rate=24000';
  expect(await measure(samples, { declaredType })).toMatchObject({
    contentType: 'audio/pcm',
    duration: null,
  });
  const { contentType } = await measure(samples, { declaredType: 'audio/mpeg' });
  expect(contentType).not.toMatch(/^audio/);
});

test.each([
  ['x.txt', 'text/plain'],
  ['x.json', 'application/json'],
  ['x.csv', 'text/csv'],
  ['x.MD', 'text/markdown'],
  ['x.srt', 'application/x-subrip'],
  ['x.vtt', 'text/vtt'],
  ['x.svg', 'image/svg+xml'],
  ['x.html', 'text/html'],
  ['x.xml', 'application/xml'],
  ['x.exe', 'application/octet-stream'],
])('a text that is called %s is %s, also where its sender says only that', async (name, contentType) => {
  const content = Buffer.from('{"a": 1}');
  expect(await measure(content, { name })).toMatchObject({ contentType, width: null });
  expect(await measure(content, { declaredType: contentType.toUpperCase() })).toMatchObject({ contentType });
});

test('long texts are taken by their beginning', async () => {
  const long = (begin: string) => Buffer.from(`${begin}${'ä'.repeat(40_000)}`);
  const readType = async (begin: string) => (await measure(long(begin), { name: 'x.json' })).contentType;
  expect(await Promise.all([' {"a', '["', '"a', 'a {'].map(readType))).toEqual([
    ...Array<string>(3).fill('application/json'),
    'text/plain',
  ]);
});

test.each([
  ['audio/mp4', [0, 0, 0, 24, ...Buffer.from('ftypM4A '), 0, 0, 0, 0, ...Buffer.from('M4A mp42')]],
  ['video/mp4', [0, 0, 0, 24, ...Buffer.from('ftypM4V '), 0, 0, 0, 0, ...Buffer.from('M4V mp42')]],
  ['audio/flac', [...Buffer.from('fLaC'), 0, 0, 0, 34, ...Buffer.alloc(34)]],
])('a recording is called %s by whatever name its bytes have', async (contentType, bytes) => {
  expect((await measure(Buffer.from(bytes))).contentType).toBe(contentType);
});

describe('images', () => {
  test.each(['png', 'jpeg', 'webp', 'gif', 'avif'] as const)(
    '%s is measured by its bytes',
    async (format) => {
      const content = await createImage(64, 48).toFormat(format).toBuffer();
      const measured = await measure(content, { declaredType: 'video/mp4', name: 'x.mp4' });
      expect(measured).toEqual({ contentType: `image/${format}`, width: 64, height: 48, duration: null });
    },
  );

  test('are measured as they are shown, with their orientation applied', async () => {
    const content = await createImage(64, 48).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    expect(await measure(content)).toMatchObject({ width: 48, height: 64 });
  });

  test('larger than a megabyte are measured too', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
    const create = { width: 1000, height: 900, channels: 3, background: '#000', noise } as const;
    for (const format of ['png', 'webp'] as const) {
      const content = await sharp({ create }).toFormat(format, { lossless: true }).toBuffer();
      expect(content.length).toBeGreaterThan(1024 * 1024);
      expect(await measure(content)).toMatchObject({ width: 1000, height: 900 });
    }
  });

  test('that are damaged keep their type and have no size', async () => {
    const damaged = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(500)]);
    expect(await measure(damaged)).toEqual({
      contentType: 'image/jpeg',
      width: null,
      height: null,
      duration: null,
    });
  });
});

describe('recordings', () => {
  test('sound has a length', async () => {
    expect(await measure(silence(1.5), { name: 'x.png' })).toEqual({
      contentType: 'audio/wav',
      width: null,
      height: null,
      duration: 1.5,
    });
  });

  test('video has size and length', async () => {
    expect(await measure(await webm(320, 180, 2))).toEqual({
      contentType: 'video/webm',
      width: 320,
      height: 180,
      duration: 2,
    });
  });

  test.each([2 ** 31, 2 ** 33])('that claim a width of %i pixels have none', async (width) => {
    expect(await measure(await webm(width, 180, 2))).toMatchObject({ width: null, height: 180, duration: 2 });
  });

  test('as browsers record them tell no length, and have a size also when finding the length takes too much', async () => {
    const live = await webm(320, 180, 1, { isLive: true });
    expect(await measure(live)).toMatchObject({ width: 320, height: 180, duration: 1 });
    const large = await webm(320, 180, 7, { isLive: true, frameBytes: 1_000_000 });
    expect(await measure(large)).toMatchObject({ width: 320, height: 180, duration: null });
  });

  test('are read in pieces, never whole', async () => {
    const content = silence(600);
    let read = 0;
    const measured = await measureMedia({
      open: async (range) => {
        read += range === undefined ? content.length : range.end - range.start + 1;
        return Readable.from([content.subarray(range?.start, range && range.end + 1)]);
      },
      bytes: content.length,
      declaredType: null,
      name: 'long.wav',
    });
    expect(measured.duration).toBe(600);
    expect(read).toBeLessThan(content.length / 4);
  });

  test('that are damaged keep their type only', async () => {
    const content = (await webm(320, 180, 2)).subarray(0, 60);
    expect(await measure(content)).toMatchObject({ contentType: 'video/webm', width: null, duration: null });
  });

  test('are not blamed for a failure of the store', async () => {
    const content = silence(1);
    let opened = 0;
    const file = { bytes: content.length, declaredType: null, name: 'x.wav' };
    const open = async () => {
      opened += 1;
      if (opened > 1) throw new Error('disk gone');
      return Readable.from([content]);
    };
    await expect(measureMedia({ ...file, open })).rejects.toThrow('disk gone');
  });
});

describe('texts', () => {
  test.each([
    ['hello, 世界', { declaredType: 'text/plain; charset=utf-8' }, 'text/plain'],
    ['{"a":1}', { declaredType: 'application/json' }, 'application/json'],
    ['{"a":', { declaredType: 'application/json' }, 'text/plain'],
    ['{"a":1}', { name: 'graph.JSON' }, 'application/json'],
    ['1\n00:00:01 --> 00:00:02\nhello', { name: 'x.srt' }, 'application/x-subrip'],
    ['<script>alert(1)</script>', { declaredType: 'text/html' }, 'text/html'],
    ['<svg xmlns="http://www.w3.org/2000/svg"/>', { declaredType: 'image/svg+xml' }, 'image/svg+xml'],
    ['<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', { name: 'x.svg' }, 'image/svg+xml'],
    ['hello', { declaredType: 'image/png' }, 'application/octet-stream'],
    ['hello', {}, 'application/octet-stream'],
  ])('%j sent as %j is %s', async (content, sent, contentType) => {
    expect((await measure(Buffer.from(content), sent)).contentType).toBe(contentType);
  });

  test('are only what really is text', async () => {
    const binary = Buffer.from([1, 2, 3, 0, 255, 254]);
    expect((await measure(binary, { declaredType: 'text/plain' })).contentType).toBe(
      'application/octet-stream',
    );
    const pdf = Buffer.from('%PDF-1.7\n% what follows is text\n');
    expect((await measure(pdf, { declaredType: 'text/html' })).contentType).toBe('application/pdf');
    expect((await measure(Buffer.alloc(0), { declaredType: 'text/plain' })).contentType).toBe(
      'application/octet-stream',
    );
  });

  test('may be longer than what is looked at, cut in the middle of a character', async () => {
    const content = Buffer.from('世'.repeat(40_000));
    expect((await measure(content, { declaredType: 'text/plain' })).contentType).toBe('text/plain');
  });
});

/** A container with the right index around frames that hold nothing: measuring does not decode. */
async function webm(
  width: number,
  height: number,
  seconds: number,
  { isLive = false, frameBytes = 20 } = {},
): Promise<Buffer> {
  const target = new BufferTarget();
  const output = new Output({ format: new WebMOutputFormat({ appendOnly: isLive }), target });
  const source = new EncodedVideoPacketSource('vp9');
  output.addVideoTrack(source, { frameRate: 10 });
  await output.start();
  const decoderConfig = { codec: 'vp09.00.10.08', codedWidth: width, codedHeight: height };
  const content = new Uint8Array(frameBytes);
  for (let frame = 0; frame < seconds * 10; frame += 1) {
    const packet = new EncodedPacket(content, frame === 0 ? 'key' : 'delta', frame / 10, 0.1);
    await source.add(packet, { decoderConfig });
  }
  await output.finalize();
  return Buffer.from(target.buffer ?? new ArrayBuffer());
}
