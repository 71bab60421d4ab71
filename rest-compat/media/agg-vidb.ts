import type { Section } from '../route/route.ts';
import { statusRoute } from './shared/status.ts';
import { submitVideo, waitForVideo } from './shared/video-operations.ts';

const generator = 'agg/vidb';

/** Aggregated video generator B. */
export const aggVidb: Section = {
  service: 'media',
  title: 'Aggregated video generator B',
  routes: [
    waitForVideo({ path: '/api/agg/vidb/sync/generate/video', generator }),
    submitVideo({ path: '/api/agg/vidb/async/generate/video', generator }),
    statusRoute({
      path: '/api/agg/vidb/async/query/status',
      group: { generators: [generator], kinds: ['VIDEO'] },
    }),
  ],
};
