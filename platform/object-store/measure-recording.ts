import { ALL_FORMATS, CustomSource, Input } from 'mediabunny';

import { readRange } from './measurable.ts';
import type { Measurable, Measures } from './measurable.ts';

/** A file that makes us read more than this to find its length keeps it to itself. */
const MAX_READ_BYTES = 64 * 1024 * 1024;
const MAX_READS = 4_096;
const CACHE_BYTES = 4 * 1024 * 1024;

/** Size and length of a video or audio file, read from its index in ranges. A damaged one keeps its type only. */
export async function measureRecording(file: Measurable, contentType: string): Promise<Measures> {
  const reading: Reading = { bytes: 0, reads: 0, failure: undefined };
  const input = new Input({ formats: ALL_FORMATS, source: rangesOf(file, reading) });
  try {
    const video = await input.getPrimaryVideoTrack();
    const audio = await input.getPrimaryAudioTrack();
    const duration = await input.computeDuration();
    return {
      contentType: typeOf(contentType, { hasVideo: video !== null, hasAudio: audio !== null }),
      width: video === null ? null : await video.getDisplayWidth(),
      height: video === null ? null : await video.getDisplayHeight(),
      duration: Number.isFinite(duration) && duration > 0 ? Math.round(duration * 1_000) / 1_000 : null,
    };
  } catch {
    // The store's own failure is no fact of the file.
    if (reading.failure !== undefined) throw reading.failure;
    // Damaged, of a form that is not read here, or too costly: it has no facts that could be told.
    return { contentType, width: null, height: null, duration: null };
  } finally {
    input.dispose();
  }
}

interface Reading {
  bytes: number;
  reads: number;
  failure: unknown;
}

function rangesOf(file: Measurable, reading: Reading): CustomSource {
  return new CustomSource({
    getSize: () => file.bytes,
    async read(start, end) {
      reading.bytes += end - start;
      reading.reads += 1;
      if (reading.bytes > MAX_READ_BYTES || reading.reads > MAX_READS) {
        throw new Error('measuring this file takes too much reading');
      }
      try {
        return await readRange(file, { start, end: end - 1 });
      } catch (error) {
        reading.failure = error;
        throw error;
      }
    },
    maxCacheSize: CACHE_BYTES,
    prefetchProfile: 'fileSystem',
    // Whoever waits for a read hears of its failure; a prefetch that fails has nobody.
    handleUnhandledError: () => undefined,
  });
}

/** Containers serve both: what has sound only is audio, whatever its first bytes say. */
function typeOf(
  contentType: string,
  { hasVideo, hasAudio }: { hasVideo: boolean; hasAudio: boolean },
): string {
  if (hasVideo) return contentType.replace(/^audio\//, 'video/');
  return hasAudio ? contentType.replace(/^video\//, 'audio/') : contentType;
}
