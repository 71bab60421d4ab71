import { query } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import { statusRoute } from './shared/status.ts';
import {
  submitVideo,
  waitForVideo,
  submitVideoWithLast,
  waitForVideoWithLast,
} from './shared/video-operations.ts';

const IMGA = 'agg/imga';

/** Aggregated video generator A: whether it makes a video of words alone, its model decides; the synchronous path is documented with an image. */
export const aggImgaVideo: Section = {
  service: 'media',
  title: 'Aggregated video generator A',
  routes: [
    submitVideo({ path: '/api/agg/imga/video/async/submit', generator: IMGA }),
    statusRoute({
      path: '/api/agg/imga/video/async/task/status',
      method: 'POST',
      group: { generators: [IMGA], kinds: ['VIDEO'] },
    }),
    waitForVideo({ path: '/api/agg/imga/video/sync/generate/video', generator: IMGA, needsImage: true }),
  ],
};

const VIDB = 'agg/vidb';

/** Aggregated video generator B. */
export const aggVidb: Section = {
  service: 'media',
  title: 'Aggregated video generator B',
  routes: [
    waitForVideo({ path: '/api/agg/vidb/sync/generate/video', generator: VIDB }),
    submitVideo({ path: '/api/agg/vidb/async/generate/video', generator: VIDB }),
    statusRoute({
      path: '/api/agg/vidb/async/query/status',
      group: { generators: [VIDB], kinds: ['VIDEO'] },
    }),
  ],
};

const VIDC = 'agg/vidc';

/** Aggregated video generator C. */
export const aggVidc: Section = {
  service: 'media',
  title: 'Aggregated video generator C',
  routes: [
    submitVideoWithLast({ path: '/api/agg/vidc/video/async/submit', generator: VIDC }),
    waitForVideoWithLast({ path: '/api/agg/vidc/video/sync/generate/video', generator: VIDC }),
    statusRoute({
      path: '/api/agg/vidc/video/task/{task_id}',
      group: { generators: [VIDC], kinds: ['VIDEO'] },
      hints: { img_mode: query.boolean({ fallback: false }) },
    }),
  ],
};
