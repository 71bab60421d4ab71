import { chooseAccount } from '../domain/task.ts';
import { builder } from './builder.ts';
import { ComfyWorkflowInput } from './comfy-workflow.ts';
import { ImageInput } from './image.ts';
import { MediaInput } from './media.ts';
import { startArguments } from './start-mutation.ts';
import { Task } from './task.ts';
import { VideoInput } from './video.ts';

const RecipeInput = builder.inputType('RecipeInput', {
  description: 'What to make by the recipe of a video template.',
  inaccessible: true,
  fields: (t) => ({
    taskType: t.string({ required: true, description: 'Task type of a living video template.' }),
    prompt: t.string({ required: true, description: 'What to show.' }),
    image: t.field({
      type: MediaInput,
      description: 'An image that is described first; the description joins the prompt.',
    }),
    aspectRatio: t.string({
      description: "W:H with integers from 1 to 64; absent means the template's, else 9:16.",
    }),
  }),
});

const StartInput = builder.inputType('StartInput', {
  description: 'Work that another service of Kiln starts; exactly one member must be set.',
  inaccessible: true,
  fields: (t) => ({
    recipe: t.field({ type: RecipeInput, description: 'A recipe.' }),
    image: t.field({ type: ImageInput, description: 'Images.' }),
    video: t.field({ type: VideoInput, description: 'A video.' }),
    comfy: t.field({ type: ComfyWorkflowInput, description: 'A ComfyUI graph.' }),
  }),
});

builder.mutationField('createTask', (t) =>
  t.field({
    type: Task,
    description:
      'Starts the recipe of a video template: tea, chop, lady, vlog, or any other living task type.',
    rule: 'spend',
    args: {
      taskType: t.arg.string({ required: true, description: 'Task type of a living video template.' }),
      prompt: t.arg.string({ required: true, description: 'What to show.' }),
      image: t.arg({
        type: MediaInput,
        description: 'An image that is described first; the description joins the prompt.',
      }),
      aspectRatio: t.arg.string({
        description: "W:H with integers from 1 to 64; absent means the template's, else 9:16.",
      }),
      options: t.arg({
        type: 'JSON',
        description:
          'What the models of its steps take besides, in the names of their vendors: {"image": {...}, "video": {...}}, `video` for vlog. Checked before anything is stored.',
      }),
      ...startArguments(t),
    },
    resolve: (
      _,
      { idempotencyKey = null, joinSeconds, callbackUrl, ...request },
      { caller, services, signal },
    ) =>
      services.submissions.createTask(caller, request, { idempotencyKey, joinSeconds, callbackUrl, signal }),
  }),
);

const soldArgument = {
  required: true,
  defaultValue: false,
  description:
    'Whether somebody has paid for it: its cost is then for administrators, and no budget of its owner bounds it.',
} as const;

builder.queryField('checkStart', (t) =>
  t.field({
    type: 'Boolean',
    description:
      'True when startTask would take this work; otherwise its refusal. So that nobody pays for what can not run.',
    rule: 'service',
    inaccessible: true,
    args: {
      start: t.arg({ type: StartInput, required: true, description: 'The work.' }),
      fetchInputs: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: 'Also fetches inputs at foreign addresses, and refuses those that can not be had.',
      }),
      owner: t.arg.string({ description: 'Whom the task would belong to; absent: budgets are not checked.' }),
      sold: t.arg.boolean(soldArgument),
    },
    resolve: async (_, { start, fetchInputs, owner, sold }, { caller, services, signal }) => {
      const account = owner ? chooseAccount({ owner, sold }) : null;
      await services.submissions.checkStart(caller, start, { fetchInputs, account, signal });
      return true;
    },
  }),
);

builder.mutationField('startTask', (t) =>
  t.field({
    type: Task,
    description: 'Starts work under an id the asking service chose. The same id again answers the same task.',
    rule: 'service',
    inaccessible: true,
    args: {
      id: t.arg.id({ required: true, description: 'The id of the task to be, a UUID v7.' }),
      owner: t.arg.string({ required: true, description: 'Whom the task belongs to.' }),
      onEnd: t.arg.string({ description: 'Queue that gets a job {taskId, state} when the task has ended.' }),
      start: t.arg({ type: StartInput, required: true, description: 'The work.' }),
      sold: t.arg.boolean(soldArgument),
    },
    resolve: (_, { onEnd = null, ...request }, { caller, services, signal }) =>
      services.submissions.startTask(caller, { ...request, onEnd }, { signal }),
  }),
);
