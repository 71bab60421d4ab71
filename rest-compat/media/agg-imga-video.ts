import type { Section } from '../route/route.ts';
import { statusRoute } from './shared/status.ts';
import { submitVideo, waitForVideo } from './shared/video-operations.ts';

const generator = 'agg/imga';

/** Aggregated video generator A. It makes a picture move, so there must be one. */
export const aggImgaVideo: Section = {
  service: 'media',
  title: 'Aggregated video generator A',
  routes: [
    submitVideo({ path: '/api/agg/imga/video/async/submit', generator, needsPicture: true }),
    statusRoute({
      path: '/api/agg/imga/video/async/task/status',
      method: 'POST',
      group: { generators: [generator], kinds: ['VIDEO'] },
    }),
    waitForVideo({ path: '/api/agg/imga/video/sync/generate/video', generator, needsPicture: true }),
  ],
};
