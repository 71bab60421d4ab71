import { GenerateImage } from '../documents/media/start.ts';
import type { Section } from '../route/route.ts';
import { chosenImage, chosenImageFields } from './shared/chosen-image.ts';
import { multipart } from './shared/inputs.ts';
import { modelsRoute } from './shared/models.ts';
import { synchronous } from './shared/start-operations.ts';
import { statusRoute } from './shared/status.ts';
import { submitVideoWithLast } from './shared/video-operations.ts';

const generator = 'union';

/** Aggregated image and video: the caller chooses the model. */
export const union: Section = {
  service: 'media',
  title: 'Aggregated image and video (model-selected)',
  routes: [
    modelsRoute({ path: '/api/union/img/model/list', category: 'image', within: generator }),
    synchronous(GenerateImage)({
      path: '/api/union/img/sync/generate/image',
      params: chosenImageFields,
      body: multipart,
      variables: (fields) => ({ input: chosenImage(generator, fields) }),
    }),
    modelsRoute({ path: '/api/union/video/model/list', category: 'video', within: generator }),
    submitVideoWithLast({ path: '/api/union/video/async/generate/video', generator }),
    statusRoute({
      path: '/api/union/video/async/{task_id}/status',
      group: { generators: [generator], kinds: ['VIDEO'] },
    }),
  ],
};
