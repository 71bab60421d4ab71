import { query } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import { statusRoute } from './shared/status.ts';
import { submitVideoWithLast, waitForVideoWithLast } from './shared/video-operations.ts';

const generator = 'agg/vidc';

/** Aggregated video generator C. */
export const aggVidc: Section = {
  service: 'media',
  title: 'Aggregated video generator C',
  routes: [
    submitVideoWithLast({ path: '/api/agg/vidc/video/async/submit', generator }),
    waitForVideoWithLast({ path: '/api/agg/vidc/video/sync/generate/video', generator }),
    statusRoute({
      path: '/api/agg/vidc/video/task/{task_id}',
      group: { generators: [generator], kinds: ['VIDEO'] },
      hints: { img_mode: query.boolean({ fallback: false }) },
    }),
  ],
};
