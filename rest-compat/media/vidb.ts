import { GenerateVideo } from '../documents/media/start.ts';
import { form } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import { optional, urlencoded } from './shared/inputs.ts';
import { healthRoute } from './shared/questions.ts';
import { submission } from './shared/start-operations.ts';
import { statusRoute } from './shared/status.ts';
import { submitVideo, videoInput, videoOptions, waitForVideo } from './shared/video-operations.ts';

const generator = 'vidb';

/** Video generator B. */
export const vidb: Section = {
  service: 'media',
  title: 'Video generator B',
  routes: [
    // The document says JSON and no more: a submission, as its name has no `sync`.
    submission(GenerateVideo)({
      path: '/api/vidb/generate-video',
      params: { prompt: form.text(), img_url: form.url(optional), ...videoOptions },
      body: urlencoded,
      variables: (fields) => ({ input: videoInput(generator, fields) }),
    }),
    waitForVideo({ path: '/api/vidb/sync/generate/video', generator }),
    submitVideo({ path: '/api/vidb/async/generate/video', generator }),
    statusRoute({
      path: '/api/vidb/async/query/status',
      group: { generators: [generator], kinds: ['VIDEO'] },
    }),
    healthRoute('/api/vidb/health', { generators: [generator] }),
  ],
};
