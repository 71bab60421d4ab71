import { GenerateVideo } from '../documents/media/start.ts';
import type { Values } from '../route/param.ts';
import { file, query } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import { oneImage, optional, optionalMultipart, vendorOptions } from './shared/inputs.ts';
import { healthRoute } from './shared/questions.ts';
import { submission, synchronous } from './shared/start-operations.ts';
import { statusRoute } from './shared/status.ts';
import { videoInput } from './shared/video-operations.ts';

const generator = 'imga';
const deprecated = true;

const params = {
  prompt: query.text(),
  img_url: query.text(optional),
  img_file: file(optional),
  ...vendorOptions,
};

/** What both ways to start have. */
const start = {
  deprecated,
  params,
  body: { ...optionalMultipart, atMostOneOf: [oneImage] },
  variables: (fields: Values<typeof params>) => ({ input: videoInput(generator, fields) }),
} as const;

/** Generator A video, older group (deprecated). */
export const imgaVideo: Section = {
  service: 'media',
  title: 'Generator A video, older group (all deprecated)',
  routes: [
    submission(GenerateVideo)({ ...start, path: '/api/imga/video/async/submit' }),
    statusRoute({
      path: '/api/imga/video/async/task/status',
      method: 'POST',
      deprecated,
      group: { generators: [generator], kinds: ['VIDEO'] },
    }),
    synchronous(GenerateVideo)({ ...start, path: '/api/imga/video/sync/gen' }),
    healthRoute('/api/imga/video/health', { deprecated, generators: [generator] }),
  ],
};
