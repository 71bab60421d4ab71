import { Models } from '../documents/media/questions.ts';
import { GenerateImage } from '../documents/media/start.ts';
import { route } from '../route/define-route.ts';
import { query } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import { chosenImage, chosenImageFields } from './shared/chosen-image.ts';
import { multipart } from './shared/inputs.ts';
import { modelsReply } from './shared/models.ts';
import { submission } from './shared/start-operations.ts';
import { statusRoute } from './shared/status.ts';
import { submitVideoWithLast } from './shared/video-operations.ts';

const generator = 'custom';

/** Stable custom group: images and videos of models that the caller chooses. */
export const custom: Section = {
  service: 'media',
  title: 'Stable custom group',
  routes: [
    route(Models)({
      method: 'GET',
      path: '/api/custom/model/list',
      params: { category: query.choice(['image', 'video'], { fallback: 'image' }) },
      variables: ({ category }) => ({ generator, category }),
      responseSchema: 'Models',
      reply: ({ models }) => modelsReply(models),
    }),
    submission(GenerateImage)({
      path: '/api/custom/image/submit/task',
      params: chosenImageFields,
      body: multipart,
      variables: (fields) => ({ input: chosenImage(generator, fields) }),
    }),
    submitVideoWithLast({ path: '/api/custom/video/submit/task', generator }),
    statusRoute({
      path: '/api/custom/task/status',
      group: { generators: [generator], kinds: ['IMAGE', 'VIDEO'] },
    }),
  ],
};
