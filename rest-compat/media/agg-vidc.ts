import { GenerateVideo } from '../documents/media/start.ts';
import { TaskById } from '../documents/media/task.ts';
import { submitted, taskReply } from '../replies/task.ts';
import { file, form, path, query, type UploadedFile } from '../route/params.ts';
import { route, type Section } from '../route/route.ts';
import { inputOf, multipart, optional, pictureFields } from './shared/inputs.ts';
import { statusReply, type TaskGroup } from './shared/status.ts';
import { onePicture, videoInput, videoOptions, type VideoFields } from './shared/video-operations.ts';

const generator = 'agg/vidc';
const group: TaskGroup = { generators: [generator], kinds: ['VIDEO'] };

interface TailedFields extends VideoFields {
  readonly tail_img_file?: UploadedFile | undefined;
  readonly tail_img_url?: string | undefined;
}

/** What both ways to start have: a first and a last picture, each as a file or as a link. */
const start = {
  method: 'POST',
  params: {
    prompt: form.text(),
    ...pictureFields,
    ...videoOptions,
    tail_img_file: file(optional),
    tail_img_url: form.url(optional),
  },
  body: { ...multipart, atMostOneOf: [onePicture, ['tail_img_file', 'tail_img_url']] },
  rateClass: 'start',
  variables: (fields: TailedFields) => ({
    input: {
      ...videoInput(generator, fields),
      lastFrame: inputOf(fields.tail_img_file, fields.tail_img_url),
    },
  }),
} as const;

/** Aggregated video generator C. */
export const aggVidc: Section = {
  service: 'media',
  title: 'Aggregated video generator C',
  routes: [
    route(GenerateVideo)({
      ...start,
      path: '/api/agg/vidc/video/async/submit',
      answers: 'Submission',
      reply: ({ generateVideo }) => submitted(generateVideo),
    }),
    route(GenerateVideo)({
      ...start,
      path: '/api/agg/vidc/video/sync/generate/video',
      wait: { task: 'generateVideo' },
      answers: 'MediaTask',
      reply: ({ generateVideo }) => taskReply(generateVideo),
    }),
    route(TaskById)({
      method: 'GET',
      path: '/api/agg/vidc/video/task/{task_id}',
      // Whether the task had a picture is known from the task; a hint that does not fit is ignored.
      params: { task_id: path.text(), img_mode: query.boolean({ fallback: false }) },
      rateClass: 'status',
      variables: ({ task_id }) => ({ id: task_id, cdn: false }),
      answers: 'MediaTask',
      reply: ({ task }, { input: { task_id } }) => statusReply(task, task_id, group),
    }),
  ],
};
