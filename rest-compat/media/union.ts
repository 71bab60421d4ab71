import { GenerateImage } from '../documents/media/start.ts';
import { TaskById } from '../documents/media/task.ts';
import { taskReply } from '../replies/task.ts';
import { path } from '../route/params.ts';
import { route, type Section } from '../route/route.ts';
import { chosenImage, chosenImageFields } from './shared/chosen-image.ts';
import { multipart } from './shared/inputs.ts';
import { modelsRoute } from './shared/models.ts';
import { statusReply, type TaskGroup } from './shared/status.ts';
import { submitVideo } from './shared/video-operations.ts';

const generator = 'union';
const videos: TaskGroup = { generators: [generator], kinds: ['VIDEO'] };

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
