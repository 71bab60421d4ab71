import type { Section } from '../route/route.ts';
import { statusRoute } from './shared/status.ts';
import { submitVideo, waitForVideo } from './shared/video-operations.ts';

const generator = 'agg/imga';

/** Aggregated video generator A: whether it makes a video of words alone, its model decides; the synchronous path is documented with a picture. */
export const aggImgaVideo: Section = {
  service: 'media',
  title: 'Aggregated video generator A',
  routes: [
    submitVideo({ path: '/api/agg/imga/video/async/submit', generator }),
    statusRoute({
      path: '/api/agg/imga/video/async/task/status',
      method: 'POST',
      group: { generators: [generator], kinds: ['VIDEO'] },
    }),
    waitForVideo({ path: '/api/agg/imga/video/sync/generate/video', generator, needsImage: true }),
  ],
};
