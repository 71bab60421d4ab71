import { GenerateVideo } from '../documents/media/start.ts';
import { submitted, taskReply } from '../replies/task.ts';
import { file, query, type UploadedFile } from '../route/params.ts';
import { route, type Section } from '../route/route.ts';
import { healthRoute } from './shared/health.ts';
import { optional, optionalMultipart } from './shared/inputs.ts';
import { statusRoute } from './shared/status.ts';
import { onePicture, videoInput } from './shared/video-operations.ts';

const generator = 'imga';

/** What both ways to start have. */
const start = {
  method: 'POST',
  deprecated: true,
  params: { prompt: query.text(), img_url: query.text(optional), img_file: file(optional) },
  body: { ...optionalMultipart, atMostOneOf: [onePicture] },
  rateClass: 'start',
  variables: (fields: {
    readonly prompt: string;
    readonly img_url: string | undefined;
    readonly img_file: UploadedFile | undefined;
  }) => ({ input: videoInput(generator, fields) }),
} as const;

/** Generator A video, older group (deprecated). */
export const imgaVideo: Section = {
  service: 'media',
  title: 'Generator A video, older group (all deprecated)',
  routes: [
    route(GenerateVideo)({
      ...start,
      path: '/api/imga/video/async/submit',
      answers: 'Submission',
      reply: ({ generateVideo }) => submitted(generateVideo),
    }),
    statusRoute({
      path: '/api/imga/video/async/task/status',
      method: 'POST',
      deprecated: true,
      group: { generators: [generator], kinds: ['VIDEO'] },
    }),
    route(GenerateVideo)({
      ...start,
      path: '/api/imga/video/sync/gen',
      wait: { task: 'generateVideo' },
      answers: 'MediaTask',
      reply: ({ generateVideo }) => taskReply(generateVideo),
    }),
    healthRoute('/api/imga/video/health', { deprecated: true }),
  ],
};
