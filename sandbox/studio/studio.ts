import type { Logger } from '../../platform/process/logger.ts';
import { checkPresenter, checkSpeech, checkVideo, planImage } from './plan/plan.ts';
import type { StudioSize } from './plan/plan.ts';
import { VOICES } from './speech/voices.ts';
import { StudioError } from './types/media-types.ts';
import type {
  Analysis,
  MatchedVoice,
  MediaFacts,
  PersonDetection,
  StudioPresenter,
  StudioSpeech,
  StudioThumbnail,
  StudioVideo,
} from './types/media-types.ts';
import type { Description, Studio, StudioCallOptions, StudioImage } from './types/studio.ts';
import type { WorkerRequest } from './worker/messages.ts';
import { createWorkerPool } from './worker/pool.ts';
import type { RunOptions } from './worker/pool.ts';

export interface StudioOptions {
  /** Rendering processes (default 1); each is about 130 MB idle. */
  readonly workers?: number;
  /** Long edge of images without an exact size: 1024 (normal, default) or 512 (small); small videos have at most 360 lines and 12 frames a second. */
  readonly size?: StudioSize;
  /** Milliseconds that one request may take, without waiting (default 5 minutes). */
  readonly timeoutMs?: number;
  /** Requests after which a rendering process is replaced (default 50). */
  readonly requestsPerWorker?: number;
  readonly logger: Logger;
}

const QUEUE_LIMIT = 5_000;
/** Timeout for reading files: normally milliseconds, but a manipulated MP4 index can take minutes. */
const READING_MS = 30_000;
const MAX_RSS_BYTES = 700 * 1024 * 1024;

/** The studio: procedural images, videos and voices, and measurements, in worker processes that start when needed. */
export function createStudio(options: StudioOptions): Studio {
  const pool = createWorkerPool({
    workers: options.workers ?? 1,
    queueLimit: QUEUE_LIMIT,
    timeoutMs: options.timeoutMs ?? 300_000,
    requestsPerWorker: options.requestsPerWorker ?? 50,
    maxRssBytes: MAX_RSS_BYTES,
  });
  const size = options.size ?? 'normal';
  const run = async <Value extends object>(request: WorkerRequest, call: RunOptions = {}) =>
    withBuffers(await pool.run(request, call)) as Value;
  const read = async <Value extends object>(request: WorkerRequest, call: StudioCallOptions = {}) => {
    try {
      return await run<Value>(request, { ...call, timeoutMs: READING_MS });
    } catch (error) {
      if (!isTimeout(error) || call.signal?.aborted === true) throw error;
      throw new StudioError('UNREADABLE_MEDIA', 'the file takes too long to read', { cause: error });
    }
  };
  return {
    image: async (request, call) =>
      run<StudioImage>({ kind: 'image', request, ...planImage(request, size) }, call),
    describe: (image, call) => run<Description>({ kind: 'describe', image }, call),
    async video(request, call) {
      checkVideo(request);
      return run<StudioVideo>({ kind: 'video', request, size }, call);
    },
    async speech(request, call) {
      checkSpeech(request);
      return run<StudioSpeech>({ kind: 'speech', request }, call);
    },
    voices: () => VOICES,
    matchVoice: (media, call) => read<MatchedVoice>({ kind: 'matchVoice', media }, call),
    async presenter(request, call) {
      checkPresenter(request);
      // Input files are probed first, so that a manipulated one is given up early.
      for (const media of [request.audio, request.video]) {
        if (media !== undefined) await read({ kind: 'probe', media }, pickSignal(call));
      }
      return run<StudioPresenter>({ kind: 'presenter', request, size }, call);
    },
    detectPerson: (media, call) => read<PersonDetection>({ kind: 'detectPerson', media }, call),
    probe: (media, call) => read<MediaFacts>({ kind: 'probe', media }, call),
    analyse: (media, call) => read<Analysis>({ kind: 'analyse', media }, call),
    thumbnail: (media, call) => read<StudioThumbnail>({ kind: 'thumbnail', media }, call),
    async close() {
      await pool.close();
      options.logger.debug('the studio is closed');
    },
  };
}

/** The same without progress. */
function pickSignal({ signal }: StudioCallOptions = {}): StudioCallOptions {
  return signal === undefined ? {} : { signal };
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

/** Messages of another process have plain arrays instead of buffers. */
function withBuffers(value: unknown): unknown {
  const entries = Object.entries(value as object).map(([name, part]: [string, unknown]) => [
    name,
    part instanceof Uint8Array ? Buffer.from(part.buffer, part.byteOffset, part.byteLength) : part,
  ]);
  return Object.fromEntries(entries);
}
