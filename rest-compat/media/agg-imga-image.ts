import { GenerateImage } from '../documents/media/start.ts';
import { CancelTask, TaskById } from '../documents/media/task.ts';
import { success, type Envelope } from '../replies/envelopes.ts';
import { route, twoStepRoute } from '../route/define-route.ts';
import { query } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import { imageFields, optionalMultipart, references, seconds } from './shared/inputs.ts';
import { describeFile, describeLink, submission, synchronous } from './shared/start-operations.ts';
import { statusReply, requireTaskOfGroup, type TaskGroup } from './shared/status.ts';

const generator = 'agg/imga';
const group: TaskGroup = { generators: [generator], kinds: ['IMAGE', 'DESCRIPTION'] };
/** The path to cancel names no kind, so it takes whatever this generator makes. */
const cancellable: TaskGroup = { generators: [generator], kinds: [...group.kinds, 'VIDEO'] };

/** Speed against cost. */
const modes = { fallback: 'fast', known: ['fast', 'turbo'] } as const;

/** Aggregated image generator A. */
export const aggImgaImage: Section = {
  service: 'media',
  title: 'Aggregated image generator A',
  routes: [
    submission(GenerateImage)({
      path: '/api/agg/imga/async/generate/image',
      params: { prompt: query.text(), ...imageFields },
      body: optionalMultipart,
      variables: ({ prompt, img_file, img_url, ar, options }) => ({
        input: { generator, prompt, images: references(img_file, img_url), aspectRatio: ar, options },
      }),
    }),
    twoStepRoute(
      TaskById,
      CancelTask,
    )({
      method: 'POST',
      path: '/api/agg/imga/task/cancel',
      params: { task_id: query.text() },
      first: ({ task_id }) => ({ id: task_id }),
      variables: ({ task_id }, found) => ({
        id: requireTaskOfGroup(found?.task ?? null, task_id, cancellable).id,
      }),
      responseSchema: 'Cancellation',
      reply: ({ cancelTask: { id, state } }) =>
        cancelReply(id, state === 'CANCELLED' ? 'cancelled' : 'canceling'),
      errorReplies: { TOO_LATE: ({ input: { task_id } }) => cancelReply(task_id, 'too_late') },
    }),
    route(TaskById)({
      method: 'GET',
      path: '/api/agg/imga/async/query/status',
      params: {
        task_id: query.text(),
        // Parameters of old callers: the task itself knows what it is, and how fast it was asked to be.
        task_type: query.text({ fallback: 'image', known: ['image', 'describe'] }),
        cdn_flag: query.boolean({ fallback: false }),
        mode: query.text(modes),
      },
      rateClass: 'status',
      variables: ({ task_id, cdn_flag }) => ({ id: task_id, cdn: cdn_flag }),
      responseSchema: 'ImageTask',
      reply: ({ task }, { input: { task_id } }) => statusReply(task, task_id, group),
    }),
    describeLink({ path: '/api/agg/imga/sync/img/describe', generator }),
    describeFile({ path: '/api/agg/imga/sync/file/img/describe', generator }),
    synchronous(GenerateImage)({
      path: '/api/agg/imga/sync/image',
      params: {
        prompt: query.text(),
        max_wait_time: query.integer({ fallback: 500, ...seconds }),
        // Accepted for old callers: nothing is polled, the wait learns of the end at once.
        poll_interval: query.integer({ fallback: 4, ...seconds }),
        mode: query.text(modes),
        ...imageFields,
      },
      body: optionalMultipart,
      variables: ({ prompt, mode, img_file, img_url, ar, options }) => ({
        input: {
          generator,
          prompt,
          images: references(img_file, img_url),
          aspectRatio: ar,
          speedMode: mode,
          options,
        },
      }),
      maxWait: 'max_wait_time',
    }),
  ],
};

const cancelMessages = {
  cancelled: 'the task is cancelled',
  canceling: 'the task is being cancelled; ask for its status',
  too_late: 'the task has ended, or its result is being stored: too late to cancel',
} as const;

function cancelReply(id: string, outcome: keyof typeof cancelMessages): Envelope {
  return success({ task_id: id, outcome }, cancelMessages[outcome]);
}
