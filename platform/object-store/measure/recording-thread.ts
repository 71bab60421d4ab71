import { parentPort } from 'node:worker_threads';

import { ALL_FORMATS, CustomSource, Input, Logging, LogLevel } from 'mediabunny';

import type { Measures, FromMeasurer, ToMeasurer } from './measurable.ts';

/**
 * The thread that measures recordings, one at a time. A crafted small file can keep a processor busy for minutes while
 * its index is read: recording.ts ends the thread then.
 */

/** Most bytes that are read to find the length of a file. */
const MAX_READ_BYTES = 64 * 1024 * 1024;
const MAX_READS = 4_096;
const CACHE_BYTES = 1024 * 1024;

const pending = new Map<number, (content: Uint8Array | null) => void>();
let reads = 0;

function post(message: FromMeasurer): void {
  parentPort?.postMessage(message);
}

// What it tells of odd files would stand between the lines of the log.
Logging.level = LogLevel.Silent;

parentPort?.on('message', (message: ToMeasurer) => {
  if (message.kind === 'measure') {
    void measure(message.bytes, message.contentType).then((measures) => post({ kind: 'measured', measures }));
    return;
  }
  pending.get(message.read)?.(message.content);
  pending.delete(message.read);
});

async function measure(bytes: number, contentType: string): Promise<Measures> {
  const input = new Input({ formats: ALL_FORMATS, source: createSource(bytes) });
  try {
    const video = await input.getPrimaryVideoTrack();
    const audio = await input.getPrimaryAudioTrack();
    // What a browser records does not say it: all of it is read then, which may be too much.
    const duration = await input.computeDuration().catch(() => 0);
    return {
      contentType: correctType(contentType, { hasVideo: video !== null, hasAudio: audio !== null }),
      width: video === null ? null : possibleEdge(await video.getDisplayWidth()),
      height: video === null ? null : possibleEdge(await video.getDisplayHeight()),
      duration: Number.isFinite(duration) && duration > 0 ? Math.round(duration * 1_000) / 1_000 : null,
    };
  } catch {
    // Damaged, of an unknown format, or too costly: no measures.
    return { contentType, width: null, height: null, duration: null };
  } finally {
    input.dispose();
  }
}

/** Most pixels of an edge: what a column of the database and an Int of GraphQL hold. */
const LONGEST_EDGE = 2 ** 31 - 1;

/** An edge as the file claims it; null when no image has such a one. */
function possibleEdge(pixels: number): number | null {
  return pixels > 0 && pixels <= LONGEST_EDGE ? pixels : null;
}

function createSource(bytes: number): CustomSource {
  let total = 0;
  let count = 0;
  return new CustomSource({
    getSize: () => bytes,
    async read(start, end) {
      total += end - start;
      count += 1;
      if (total > MAX_READ_BYTES || count > MAX_READS)
        throw new Error('measuring this file takes too much reading');
      return askForRange(start, end);
    },
    maxCacheSize: CACHE_BYTES,
    prefetchProfile: 'fileSystem',
    // Readers get the failure of their read; a failing prefetch has none.
    handleUnhandledError: () => undefined,
  });
}

async function askForRange(start: number, end: number): Promise<Uint8Array> {
  reads += 1;
  const read = reads;
  const answered = new Promise<Uint8Array | null>((resolve) => pending.set(read, resolve));
  post({ kind: 'read', read, start, end: end - 1 });
  const content = await answered;
  if (content === null) throw new Error('the file could not be read');
  return content;
}

/** Containers hold both: a file with sound only is audio, whatever its first bytes say. */
function correctType(
  contentType: string,
  { hasVideo, hasAudio }: { hasVideo: boolean; hasAudio: boolean },
): string {
  if (hasVideo) return contentType.replace(/^audio\//, 'video/');
  return hasAudio ? contentType.replace(/^video\//, 'audio/') : contentType;
}
