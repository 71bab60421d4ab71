import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { Worker } from 'node:worker_threads';

import { expect, it, vi } from 'vitest';

import type { Measurable } from './measurable.ts';
import { measureRecording } from './recording.ts';

const clip = readFileSync(path.join(import.meta.dirname, '../../../sandbox/studio/instant/clip.mp4'));

function inMemory(content: Buffer): Measurable {
  return {
    bytes: content.length,
    declaredType: null,
    name: 'clip.mp4',
    open: async (range) =>
      Readable.from([range === undefined ? content : content.subarray(range.start, range.end + 1)]),
  };
}

it('measures a film, also many at once', async () => {
  const measured = await Promise.all(
    Array.from({ length: 6 }, () => measureRecording(inMemory(clip), 'video/mp4')),
  );
  for (const measures of measured) {
    expect(measures).toMatchObject({ contentType: 'video/mp4', width: 128, height: 72 });
    expect(measures.duration).toBeGreaterThan(1);
  }
});

/** Sound alone: so many samples of 8 bits, 8,000 each second. */
function createRecording(samples: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8_000, 24);
  header.writeUInt32LE(8_000, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples, 40);
  return Buffer.concat([header, Buffer.alloc(samples, 128)]);
}

it('calls a file by what is in it: with frames a video, with sound alone audio, which has no size', async () => {
  const measured = await Promise.all([
    measureRecording(inMemory(clip), 'audio/mp4'),
    measureRecording(inMemory(createRecording(12_000)), 'video/wav'),
  ]);
  expect(measured).toMatchObject([
    { contentType: 'video/mp4', width: 128 },
    { contentType: 'audio/wav', width: null, height: null, duration: 1.5 },
  ]);
});

it('names no length where there is none', async () => {
  const measures = await measureRecording(inMemory(createRecording(0)), 'audio/wav');
  expect(measures).toEqual({ contentType: 'audio/wav', width: null, height: null, duration: null });
});

it('gives up a file that was made to keep its reader busy, and goes on serving meanwhile', async () => {
  const costly = Buffer.from(clip);
  // The samples of each chunk: two thousand million, instead of a few.
  costly.writeUInt32BE(0x98_00_00_18, costly.indexOf('stsc') + 16);
  let ticks = 0;
  const clock = setInterval(() => (ticks += 1), 10);
  const measures = await measureRecording(inMemory(costly), 'video/mp4', 1_000);
  clearInterval(clock);
  expect(measures).toEqual({ contentType: 'video/mp4', width: null, height: null, duration: null });
  // One or two when it blocks; a hundred on a machine that has time.
  expect(ticks).toBeGreaterThan(3);
  expect(await measureRecording(inMemory(clip), 'video/mp4')).toMatchObject({ width: 128 });
});

/** The film with further entries in its table of sample sizes, of four bytes each. */
function withSamples(film: Buffer, count: number): Buffer {
  const table = film.indexOf('stsz') - 4;
  const end = table + film.readUInt32BE(table);
  const more = Buffer.alloc(count * 4, 1);
  const whole = Buffer.concat([film.subarray(0, end), more, film.subarray(end)]);
  for (const box of ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsz']) {
    const size = whole.indexOf(box) - 4;
    whole.writeUInt32BE(whole.readUInt32BE(size) + more.length, size);
  }
  const entries = whole.indexOf('stsz') + 12;
  whole.writeUInt32BE(whole.readUInt32BE(entries) + count, entries);
  return whole;
}

it('gives up a file of 20 MB whose index takes more memory than the thread has, and takes little itself', async () => {
  expect(await measureRecording(inMemory(withSamples(clip, 1_000)), 'video/mp4')).toMatchObject({
    width: 128,
  });
  const film = inMemory(withSamples(clip, 5_000_000));
  const before = process.memoryUsage.rss();
  let most = before;
  const clock = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
  // Without the limit of its memory it would be measured: time does not end it.
  const measures = await measureRecording(film, 'video/mp4', 120_000);
  clearInterval(clock);
  expect(measures).toEqual({ contentType: 'video/mp4', width: null, height: null, duration: null });
  expect((most - before) / 1_000_000).toBeLessThan(150);
  expect(await measureRecording(inMemory(clip), 'video/mp4')).toMatchObject({ width: 128 });
});

/** The film behind so many boxes of two megabytes with nothing in them, which a reader goes through to find it. */
function farBehind(film: Buffer, boxes: number): Measurable {
  const brand = film.subarray(0, film.readUInt32BE(0));
  const box = Buffer.from([0, 0x20, 0, 0, ...Buffer.from('free')]);
  const size = box.readUInt32BE(0);
  const places = Array.from({ length: boxes }, (_, index) => [brand.length + index * size, box] as const);
  const parts = [[0, brand] as const, ...places, [brand.length + boxes * size, film] as const];
  const bytes = brand.length + boxes * size + film.length;
  return {
    ...inMemory(film),
    bytes,
    async open({ start, end } = { start: 0, end: bytes - 1 }) {
      const content = Buffer.alloc(end + 1 - start);
      for (const [at, part] of parts) {
        if (at < start + content.length && at + part.length > start)
          part.copy(content, Math.max(0, at - start), Math.max(0, start - at));
      }
      return Readable.from([content]);
    },
  };
}

it('gives up a file of which much has to be read to find its index', async () => {
  expect(await measureRecording(farBehind(clip, 3), 'video/mp4')).toMatchObject({ width: 128 });
  expect(await measureRecording(farBehind(clip, 500), 'video/mp4')).toMatchObject({ width: null });
});

it('says nothing of its own on the standard streams, where the lines of the log are', async () => {
  const odd = Buffer.from(clip);
  odd.write('av00', odd.indexOf('avc1', odd.indexOf('stsd')));
  const written = vi.spyOn(process.stderr, 'write');
  // Twice: what a thread has written is here before the answer to its next file.
  for (const _ of [1, 2]) await measureRecording(inMemory(odd), 'video/mp4');
  expect(written.mock.calls.map(([text]) => String(text)).join('')).not.toContain('av00');
  written.mockRestore();
});

it('throws what the store throws', async () => {
  const broken: Measurable = { ...inMemory(clip), open: () => Promise.reject(new Error('the disk is away')) };
  await expect(measureRecording(broken, 'video/mp4')).rejects.toThrow('the disk is away');
});

it('goes on where a thread fails that nobody waits for any more', async () => {
  const started: Worker[] = [];
  const note = (thread: Worker): void => void started.push(thread);
  process.on('worker', note);
  // One whose time is over is ended, so that the next file has a thread of its own.
  await Promise.all([1, 2].map(() => measureRecording(inMemory(clip), 'video/mp4', 0)));
  await measureRecording(inMemory(clip), 'video/mp4');
  process.off('worker', note);
  // The last one is idle. Without a listener the error would end the process.
  expect(started.at(-1)?.emit('error', new Error('out of memory'))).toBe(true);
});
