import { z } from 'zod';

import type { Logger } from '../../platform/logger.ts';
import { sizeFor } from './size.ts';
import type { Description, ImageRequest, Studio, StudioImage } from './types.ts';
import { createWorkerPool } from './worker-pool.ts';

export interface StudioOptions {
  /** Rendering processes (default 1); each is about 130 MB idle. */
  readonly workers?: number;
  /** Long edge of pictures without an exact size: 1024 (normal, default) or 512 (small). */
  readonly size?: 'normal' | 'small';
  /** Milliseconds that one picture may take, waiting included (default 5 minutes). */
  readonly timeoutMs?: number;
  /** Requests after which a rendering process is replaced (default 50). */
  readonly requestsPerWorker?: number;
  readonly logger: Logger;
}

const LONG_EDGE = { normal: 1_024, small: 512 } as const;
const QUEUE_LIMIT = 5_000;
const MAX_RSS_BYTES = 700 * 1024 * 1024;
const MAX_EDGE = 4_096;
const MAX_REFERENCES = 5;

const exactSize = z.object({
  width: z.number().int().min(16).max(MAX_EDGE),
  height: z.number().int().min(16).max(MAX_EDGE),
});

/** The studio: procedural pictures and measured descriptions, made in processes of their own. None runs before it is needed. */
export function createStudio(options: StudioOptions): Studio {
  const pool = createWorkerPool({
    workers: options.workers ?? 1,
    queueLimit: QUEUE_LIMIT,
    timeoutMs: options.timeoutMs ?? 300_000,
    requestsPerWorker: options.requestsPerWorker ?? 50,
    maxRssBytes: MAX_RSS_BYTES,
  });
  const longEdge = LONG_EDGE[options.size ?? 'normal'];
  return {
    async image(request, { onProgress, signal } = {}) {
      const { width, height } = sizeOf(request, longEdge);
      const made = (await pool.run(
        { kind: 'image', request, width, height },
        { onProgress, signal },
      )) as StudioImage;
      // The structured clone between processes makes plain arrays of buffers.
      return { ...made, bytes: Buffer.from(made.bytes), preview: Buffer.from(made.preview) };
    },
    async describe(picture, { onProgress, signal } = {}) {
      return (await pool.run({ kind: 'describe', picture }, { onProgress, signal })) as Description;
    },
    async close() {
      await pool.close();
      options.logger.debug('the studio is closed');
    },
  };
}

function sizeOf(request: ImageRequest, longEdge: number): { width: number; height: number } {
  if ((request.references?.length ?? 0) > MAX_REFERENCES) {
    throw new RangeError(`at most ${MAX_REFERENCES} pictures can be blended in`);
  }
  return request.size === undefined ? sizeFor(request.aspectRatio, longEdge) : exactSize.parse(request.size);
}
