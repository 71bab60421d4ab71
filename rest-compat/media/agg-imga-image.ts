import { GenerateImage } from '../documents/media/start.ts';
import { CancelTask, TaskById } from '../documents/media/task.ts';
import { success, type Envelope } from '../replies/envelope.ts';
import { submitted, taskReply } from '../replies/task.ts';
import { query } from '../route/params.ts';
import { route, routeAfter, type Section } from '../route/route.ts';
import { describeFile, describeLink } from './shared/describe-operations.ts';
import { imageFields, optionalMultipart, references, seconds } from './shared/inputs.ts';
import { statusReply, taskOfGroup, type TaskGroup } from './shared/status.ts';

const generator = 'agg/imga';
const group: TaskGroup = { generators: [generator], kinds: ['IMAGE', 'DESCRIPTION'] };
/** The path to cancel names no kind, so it takes whatever this generator makes. */
const cancellable: TaskGroup = { generators: [generator], kinds: [...group.kinds, 'VIDEO'] };

/** How fast, and how dear. */
const modes = { fallback: 'fast', known: ['fast', 'turbo'] } as const;

/** Aggregated image generator A. */
export const aggImgaImage: Section = {
  service: 'media',
  title: 'Aggregated image generator A',
  routes: [
    route(GenerateImage)({
      method: 'POST',
      path: '/api/agg/imga/async/generate/image',
      params: { prompt: query.text(), ...imageFields },
      body: optionalMultipart,
      rateClass: 'start',
      variables: ({ prompt, img_file, img_url, ar }) => ({
        input: { generator, prompt, images: references(img_file, img_url), aspectRatio: ar },
      }),
      answers: 'Submission',
      reply: ({ generateImage }) => submitted(generateImage),
    }),
    routeAfter(
      TaskById,
      CancelTask,
    )({
      method: 'POST',
      path: '/api/agg/imga/task/cancel',
      params: { task_id: query.text() },
      rateClass: 'start',
      first: ({ task_id }) => ({ id: task_id, cdn: false }),
      variables: ({ task_id }, found) => ({ id: taskOfGroup(found?.task ?? null, task_id, cancellable).id }),
      answers: 'Cancellation',
      reply: ({ cancelTask: { id, state } }) =>
        cancelReply(id, state === 'CANCELLED' ? 'cancelled' : 'canceling'),
      refusals: { TOO_LATE: ({ input: { task_id } }) => cancelReply(task_id, 'too_late') },
    }),
    route(TaskById)({
      method: 'GET',
      path: '/api/agg/imga/async/query/status',
      params: {
        task_id: query.text(),
        // Hints of old callers: the task itself knows what it is, and how fast it was asked to be.
        task_type: query.text({ fallback: 'image', known: ['image', 'describe'] }),
        cdn_flag: query.boolean({ fallback: false }),
        mode: query.text(modes),
      },
      rateClass: 'status',
      variables: ({ task_id, cdn_flag }) => ({ id: task_id, cdn: cdn_flag }),
      answers: 'PictureTask',
      reply: ({ task }, { input: { task_id } }) => statusReply(task, task_id, group),
    }),
    describeLink({ path: '/api/agg/imga/sync/img/describe', generator }),
    describeFile({ path: '/api/agg/imga/sync/file/img/describe', generator }),
    route(GenerateImage)({
      method: 'POST',
      path: '/api/agg/imga/sync/image',
      params: {
        prompt: query.text(),
        max_wait_time: query.integer({ fallback: 500, ...seconds }),
        // Accepted for old callers: the wait hears of the end at once.
        poll_interval: query.integer({ fallback: 4, ...seconds }),
        mode: query.text(modes),
        ...imageFields,
      },
      body: optionalMultipart,
      rateClass: 'start',
      variables: ({ prompt, mode, img_file, img_url, ar }) => ({
        input: {
          generator,
          prompt,
          images: references(img_file, img_url),
          aspectRatio: ar,
          speedMode: mode,
        },
      }),
      wait: { task: 'generateImage', ceiling: 'max_wait_time' },
      answers: 'MediaTask',
      reply: ({ generateImage }) => taskReply(generateImage),
    }),
  ],
};

const cancelWords = {
  cancelled: 'the task is cancelled',
  canceling: 'the task is being cancelled; ask for its status',
  too_late: 'the task has ended, or its result is being stored: too late to cancel',
} as const;

function cancelReply(id: string, outcome: keyof typeof cancelWords): Envelope {
  return success({ task_id: id, outcome }, cancelWords[outcome]);
}
