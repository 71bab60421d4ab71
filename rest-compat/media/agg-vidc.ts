import { GenerateVideo } from '../documents/media/start.ts';
import type { Values } from '../route/param.ts';
import { file, form, query } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import { inputOf, multipart, onePicture, optional, pictureFields } from './shared/inputs.ts';
import { submission, synchronous } from './shared/start-operations.ts';
import { statusRoute } from './shared/status.ts';
import { videoInput, videoOptions } from './shared/video-operations.ts';

const generator = 'agg/vidc';

const params = {
  prompt: form.text(),
  ...pictureFields,
  ...videoOptions,
  tail_img_file: file(optional),
  tail_img_url: form.url(optional),
};

/** What both ways to start have: a first and a last picture, each as a file or as a link. */
const start = {
  params,
  body: { ...multipart, atMostOneOf: [onePicture, ['tail_img_file', 'tail_img_url']] },
  variables: (fields: Values<typeof params>) => ({
    input: {
      ...videoInput(generator, fields),
      lastFrame: inputOf(fields.tail_img_file, fields.tail_img_url),
    },
  }),
};

/** Aggregated video generator C. */
export const aggVidc: Section = {
  service: 'media',
  title: 'Aggregated video generator C',
  routes: [
    submission(GenerateVideo)({ ...start, path: '/api/agg/vidc/video/async/submit' }),
    synchronous(GenerateVideo)({ ...start, path: '/api/agg/vidc/video/sync/generate/video' }),
    statusRoute({
      path: '/api/agg/vidc/video/task/{task_id}',
      group: { generators: [generator], kinds: ['VIDEO'] },
      hints: { img_mode: query.boolean({ fallback: false }) },
    }),
  ],
};
