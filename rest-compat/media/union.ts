import { path } from '../params.ts';
import { taskReply } from '../replies/task.ts';
import { route } from '../route.ts';
import type { Section } from '../route.ts';
import { chosenImage, chosenImageFields } from './chosen-image.ts';
import { GenerateImage } from './documents/start.ts';
import { TaskById } from './documents/task.ts';
import { multipart } from './inputs.ts';
import { modelsRoute } from './models.ts';
import { statusReply } from './status.ts';
import { submitVideo } from './video-operations.ts';

const generator = 'union';
const videos = { generators: [generator], kinds: ['VIDEO'] };

/** Aggregated image and video: the caller chooses the model. */
export const union: Section = {
  service: 'media',
  title: 'Aggregated image and video (model-selected)',
  routes: [
    modelsRoute({ path: '/api/union/img/model/list', category: 'image', within: generator }),
    route(GenerateImage)({
      method: 'POST',
      path: '/api/union/img/sync/generate/image',
      params: chosenImageFields,
      body: multipart,
      rateClass: 'start',
      variables: (fields) => ({ input: chosenImage(generator, fields) }),
      wait: { task: 'generateImage' },
      answers: 'MediaTask',
      reply: ({ generateImage }) => taskReply(generateImage),
    }),
    modelsRoute({ path: '/api/union/video/model/list', category: 'video', within: generator }),
    submitVideo({ path: '/api/union/video/async/generate/video', generator }),
    route(TaskById)({
      method: 'GET',
      path: '/api/union/video/async/{task_id}/status',
      params: { task_id: path.text() },
      rateClass: 'status',
      variables: ({ task_id }) => ({ id: task_id, cdn: false }),
      answers: 'MediaTask',
      reply: ({ task }, { input: { task_id } }) => statusReply(task, task_id, videos),
    }),
  ],
};
