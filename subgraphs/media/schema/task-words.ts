import { reads } from '../../../platform/graphql/schema/needed-members.ts';
import type { Task as TaskShape } from '../domain/task.ts';
import type { NoteCode, NoteInfo } from '../domain/words/notes.ts';
import {
  readStage,
  type RunningNode,
  type StageCode,
  type StageInfo,
  type StepCode,
} from '../domain/words/stages.ts';
import { builder } from './builder.ts';
import { Media } from './media.ts';
import { Task, TaskProgress } from './task.ts';

const TaskStageCode = builder.enumType('TaskStageCode', {
  description: 'What a task, or a step of it, does. Later versions may add codes.',
  values: {
    QUEUED: { description: 'Waiting for its turn at Kiln; `queuePosition` of the task says where.' },
    STARTING: { description: 'Being sent to its provider.' },
    FETCHING_INPUT: { description: 'Its input files are being fetched.' },
    QUEUED_UPSTREAM: {
      description: 'Waiting at its provider; `upstreamPosition` says where, if that is known.',
    },
    STARTING_UPSTREAM: { description: 'Its provider is starting what it runs on.' },
    UPLOADING: { description: 'Being uploaded to its provider.' },
    LEARNING_CHARACTER: { description: 'The provider learns the character.' },
    RENDERING: { description: 'The provider works on it.' },
    FINALIZING: { description: 'The provider puts the result together.' },
    RUNNING_NODE: { description: 'A node of its ComfyUI graph runs; `node` says which.' },
    STORING_RESULT: { description: 'Its result is being fetched and stored.' },
    PROVIDER_AWAY: { description: 'Its provider does not answer; it is tried again after `retryInSeconds`.' },
    PROVIDER_BUSY: {
      description: 'Its provider takes no more for now; it is tried again after `retryInSeconds`.',
    },
    PAUSED: {
      description: 'An administrator has paused where it would run; it goes on when that is resumed.',
    },
    TRYING_AGAIN: { description: 'An attempt has failed and the next one follows.' },
    CANCELLING: { description: 'Its cancellation was requested.' },
    FINISHED: { description: 'It, or one step of it, has made its result.' },
    FAILED: { description: 'It has failed; `error` of the task says why.' },
    CANCELLED: { description: 'It was cancelled.' },
    OTHER: {
      description: 'Words without a code, as a newer or older version has written them; `text` has them.',
    },
  } satisfies Record<StageCode, { description: string }>,
});

const TaskStepCode = builder.enumType('TaskStepCode', {
  description: 'What a step of a task with several makes. Later versions may add codes.',
  values: {
    DESCRIBING_IMAGE: { description: 'A description of the image that was sent.' },
    SPEAKING_TEXT: { description: 'A recording of the text.' },
    IMAGE: { description: 'An image, of a set where `total` says so.' },
    VIDEO: { description: 'A video.' },
  } satisfies Record<StepCode, { description: string }>,
});

const TaskStageStep = builder.objectRef<NonNullable<StageInfo['step']>>('TaskStageStep').implement({
  description: 'The step that a stage is of.',
  fields: (t) => ({
    code: t.expose('code', { type: TaskStepCode, description: 'What the step makes.' }),
    number: t.exposeInt('number', {
      nullable: true,
      description: 'Which one of its set, from 1; null where it makes one alone.',
    }),
    total: t.exposeInt('total', { nullable: true, description: 'How many the set has.' }),
  }),
});

const TaskStageNode = builder.objectRef<RunningNode>('TaskStageNode').implement({
  description: 'The running node of a ComfyUI graph.',
  fields: (t) => ({
    nodeId: t.exposeString('nodeId', { description: 'The key of the node in the graph.' }),
    classType: t.exposeString('classType', {
      nullable: true,
      description: 'What the node is, such as KSampler; null where that is not known.',
    }),
    step: t.exposeInt('step', {
      nullable: true,
      description: 'The current step, where it has several.',
    }),
    steps: t.exposeInt('steps', { nullable: true, description: 'How many steps it has.' }),
  }),
});

const TaskStage = builder.objectRef<StageInfo>('TaskStage').implement({
  description: 'What a task does, as a code with its values.',
  fields: (t) => ({
    code: t.expose('code', { type: TaskStageCode, description: 'What it, or the step, does.' }),
    text: t.exposeString('text', {
      description: 'The same in English words without the step, for codes that a client does not know.',
    }),
    step: t.expose('step', {
      type: TaskStageStep,
      nullable: true,
      description: 'Which step does it, in tasks with several; null for the task as a whole.',
    }),
    node: t.expose('node', {
      type: TaskStageNode,
      nullable: true,
      description: 'The running node, for RUNNING_NODE.',
    }),
    retryInSeconds: t.exposeInt('retryInSeconds', {
      nullable: true,
      description:
        'Seconds from the entry in the log until the next try, for PROVIDER_AWAY and PROVIDER_BUSY.',
    }),
    upstreamPosition: t.exposeInt('upstreamPosition', {
      nullable: true,
      description: "Place in the provider's own queue, for QUEUED_UPSTREAM where the provider says it.",
    }),
    preview: t.field({
      type: Media,
      nullable: true,
      description:
        'How far an image is, for RENDERING where the provider sends parts (option `partial_images`) and for RUNNING_NODE of a ComfyUI server with `--preview-method`; kept for an hour, null once it is gone.',
      resolve: ({ preview }, _, { loaders }) => (preview === null ? null : loaders.media.load(preview)),
    }),
  }),
});

builder.objectField(Task, 'stageInfo', (t) =>
  t.field({
    type: TaskStage,
    description: 'The stage as a code with its values, for programs and other languages.',
    extensions: reads<TaskShape>('stage'),
    resolve: ({ stage }) => readStage(stage),
  }),
);

builder.objectField(TaskProgress, 'stageInfo', (t) =>
  t.field({
    type: TaskStage,
    description: 'The stage as a code with its values, for programs and other languages.',
    resolve: ({ stage }) => readStage(stage),
  }),
);

const TaskNoteCode = builder.enumType('TaskNoteCode', {
  description: 'What is missing in a result or met only approximately. Later versions may add codes.',
  values: {
    SHAPE_OF_PICTURE: { description: '`aspectRatio` was not used: the video has the shape of its image.' },
    SHAPE_OF_SIZE: { description: '`aspectRatio` was not used: `size` decides.' },
    NEAREST_SHAPE: {
      description: '`aspectRatio` was met by `usedAspectRatio`, the nearest that the model makes.',
    },
    VIDEO_MISSING: { description: 'The video is missing: no generator for videos is configured.' },
    OTHER: {
      description: 'Words without a code, as a newer or older version has written them; `text` has them.',
    },
  } satisfies Record<NoteCode, { description: string }>,
});

/** A note as a code with its values. */
export const TaskNote = builder.objectRef<NoteInfo>('TaskNote').implement({
  description: 'What is missing in a result or met only approximately, as a code with its values.',
  fields: (t) => ({
    code: t.expose('code', { type: TaskNoteCode, description: 'What is missing or approximate.' }),
    text: t.exposeString('text', {
      description: 'The same as an English sentence, for codes that a client does not know.',
    }),
    aspectRatio: t.exposeString('aspectRatio', {
      nullable: true,
      description: 'The aspect ratio that was requested, in notes about it.',
    }),
    size: t.exposeString('size', {
      nullable: true,
      description: 'The size that decides, for SHAPE_OF_SIZE.',
    }),
    usedAspectRatio: t.exposeString('usedAspectRatio', {
      nullable: true,
      description: 'The aspect ratio that was used, for NEAREST_SHAPE.',
    }),
  }),
});
