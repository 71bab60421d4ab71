import { notFound } from '../../platform/errors.ts';
import { CreateTask } from '../documents/media/start.ts';
import { TaskById } from '../documents/media/task.ts';
import { taskReply } from '../replies/task.ts';
import { route } from '../route/define-route.ts';
import { json, path } from '../route/params.ts';
import type { Route, Section } from '../route/route.ts';
import { extension, toMediaInput } from './shared/inputs.ts';
import { healthRoute } from './shared/questions.ts';
import { submission } from './shared/start-operations.ts';

/** Task management: recipes of the bundled video templates. */
export const tasks: Section = {
  service: 'media',
  title: 'Task management',
  routes: [
    createTask('/api/task/create/task'),
    createTask('/api/task/create/task/v2'),
    route(TaskById)({
      method: 'GET',
      path: '/api/task/status/{task_id}',
      params: { task_id: path.text() },
      rateClass: 'status',
      variables: ({ task_id }) => ({ id: task_id, cdn: false }),
      responseSchema: 'AnyTask',
      // The generic status path: every task the caller may read, whichever operation started it.
      reply: ({ task }, { input }) => {
        if (task === null) throw notFound('task', input.task_id);
        return taskReply(task);
      },
    }),
    healthRoute('/api/task/health'),
  ],
};

/** Both versions behave the same (seed: media, Task management). */
function createTask(path: string): Route {
  return submission(CreateTask)({
    path,
    params: {
      task_type: json.choice(['tea', 'chop', 'lady', 'vlog']),
      prompt: json.text(),
      img_url: json.url({ optional: true }),
      ar: json.text({ fallback: '9:16' }),
      options: json.object(extension),
    },
    body: { type: 'application/json', required: true },
    variables: ({ task_type, prompt, img_url, ar, options }) => ({
      taskType: task_type,
      prompt,
      image: toMediaInput(undefined, img_url),
      aspectRatio: ar,
      options,
    }),
  });
}
