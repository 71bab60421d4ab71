import { badInput } from '../../../platform/errors.ts';
import type { Json, JsonObject } from '../../../platform/json.ts';
import { boundedFirst, checkedCursor } from '../../../platform/paging.ts';
import type {
  VideoTemplate as VideoTemplateShape,
  VideoTemplateChange,
  VideoTemplateList,
  VideoTemplatePage as VideoTemplatePageShape,
} from '../video-templates/video-template.ts';
import { builder, connection } from './builder.ts';

const VideoTemplate = builder.objectRef<VideoTemplateShape>('VideoTemplate').implement({
  description: 'An entry of the video template catalog, identified by its task type.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'An integer, assigned in order.' }),
    taskType: t.exposeString('taskType', {
      description: 'What createTask names; unique among living templates.',
    }),
    prompt: t.exposeString('prompt', { nullable: true, description: 'Prompt text of the template itself.' }),
    coverUrl: t.exposeString('coverUrl', { nullable: true, description: 'Address of a cover image.' }),
    videoUrl: t.exposeString('videoUrl', { nullable: true, description: 'Address of a sample video.' }),
    aspectRatio: t.exposeString('aspectRatio', { nullable: true, description: 'W:H, such as 9:16.' }),
    presetPrompts: t.exposeStringList('presetPrompts', {
      description: 'One image is made for each of them, at most four.',
    }),
    fields: t.expose('fields', {
      type: 'JSON',
      description: 'Additional properties, as they were sent (titles, descriptions, engine, category, ...).',
    }),
    deletedAt: t.expose('deletedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was deleted; null otherwise.',
    }),
  }),
});

builder.asEntity(VideoTemplate, {
  key: builder.selection<{ id: string }>('id'),
  resolveReference: ({ id }, { loaders }) => loaders.videoTemplates.load(id),
});

const VideoTemplatePage = builder.objectRef<VideoTemplatePageShape>('VideoTemplatePage').implement({
  description: 'One page of the catalog, ordered by id.',
  fields: (t) => ({
    items: t.field({
      type: [VideoTemplate],
      description: 'The templates of this page; none past the end.',
      resolve: (page) => [...page.items],
    }),
    page: t.exposeInt('page', { description: 'Number of this page, from 1.' }),
    pageSize: t.exposeInt('pageSize', { description: 'Most templates a page holds.' }),
    total: t.exposeInt('total', {
      description: 'Templates that match, over all pages; deleted ones are not counted.',
    }),
  }),
});

const VideoTemplateConnection = connection(VideoTemplate, {
  name: 'VideoTemplate',
  plural: 'video templates',
  order: 'ordered by id',
  readItems: ({ items }: VideoTemplateList & { readonly after: string | null }) => items,
  formatCursor: ({ id }) => String(id),
  readCount: ({ count }) => count(),
});

const VideoTemplateInput = builder.inputType('VideoTemplateInput', {
  description: 'What to store of a video template. On update: absent leaves as it is, null clears.',
  fields: (t) => ({
    taskType: t.string({ description: 'Needed on create; unique among living templates.' }),
    prompt: t.string({ description: 'Prompt text of the template itself.' }),
    coverUrl: t.string({ description: 'Address of a cover image.' }),
    videoUrl: t.string({ description: 'Address of a sample video.' }),
    aspectRatio: t.string({ description: 'W:H with integers from 1 to 64.' }),
    presetPrompts: t.stringList({ description: 'One image is made for each of them, at most four.' }),
    fields: t.field({ type: 'JSON', description: 'Additional properties, an object; merged on update.' }),
  }),
});

builder.queryField('videoTemplates', (t) =>
  t.field({
    type: VideoTemplatePage,
    description: 'The catalog of living video templates, by numbered pages.',
    deprecationReason: 'Use videoTemplatesConnection.',
    rule: 'public',
    args: {
      taskType: t.arg.string({ description: 'Only the template of this task type.' }),
      category: t.arg.string({
        description: 'Only those whose `category` property is this; 全部 means all.',
      }),
      page: t.arg.int({ required: true, defaultValue: 1, description: 'From 1.' }),
      pageSize: t.arg.int({ required: true, defaultValue: 100, description: 'From 1 to 1000.' }),
    },
    resolve: (_, { taskType = null, category = null, page, pageSize }, { services }) =>
      services.videoTemplates.page({ taskType, category, page, pageSize }),
  }),
);

builder.queryField('videoTemplatesConnection', (t) =>
  t.field({
    type: VideoTemplateConnection,
    description: 'The catalog of living video templates.',
    rule: 'public',
    args: {
      taskType: t.arg.string({ description: 'Only the template of this task type.' }),
      category: t.arg.string({
        description: 'Only those whose `category` property is this; 全部 means all.',
      }),
      first: t.arg.int({ required: true, defaultValue: 50, description: 'From 1 to 1000.' }),
      after: t.arg.string({ description: 'Cursor of the last template already seen.' }),
    },
    resolve: async (_, { taskType = null, category = null, ...asked }, { services }) => {
      const after = checkedCursor(asked.after, isTemplateId);
      const page = { first: boundedFirst(asked.first, 1000), after: Number(after ?? 0) };
      return { after, ...(await services.videoTemplates.list({ taskType, category, ...page })) };
    },
  }),
);

builder.queryField('taskTypeAvailable', (t) =>
  t.boolean({
    description: 'Whether no living template has this task type yet.',
    rule: 'public',
    args: {
      taskType: t.arg.string({ required: true, description: 'The task type to look up.' }),
    },
    resolve: (_, { taskType }, { services }) => services.videoTemplates.isAvailable(taskType),
  }),
);

builder.mutationField('createVideoTemplate', (t) =>
  t.field({
    type: VideoTemplate,
    description: 'Adds a template to the catalog.',
    rule: 'admin',
    args: { input: t.arg({ type: VideoTemplateInput, required: true, description: 'The template.' }) },
    resolve: (_, { input }, { services }) => services.videoTemplates.create(toChange(input)),
  }),
);

builder.mutationField('updateVideoTemplate', (t) =>
  t.field({
    type: VideoTemplate,
    description: 'Changes those members of a template that are sent.',
    rule: 'admin',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the template.' }),
      input: t.arg({ type: VideoTemplateInput, required: true, description: 'What to change.' }),
    },
    resolve: (_, { id, input }, { services }) => services.videoTemplates.update(id, toChange(input)),
  }),
);

builder.mutationField('deleteVideoTemplate', (t) =>
  t.field({
    type: VideoTemplate,
    description:
      'Deletes a template; its task type is free again. Tasks keep their own copy of what they used.',
    rule: 'admin',
    args: { id: t.arg.id({ required: true, description: 'The id of the template.' }) },
    resolve: (_, { id }, { services }) => services.videoTemplates.remove(id),
  }),
);

/** Ids are PostgreSQL integers. */
function isTemplateId(text: string): boolean {
  return /^\d{1,10}$/.test(text) && Number(text) < 2 ** 31;
}

function toChange(
  input: Omit<VideoTemplateChange, 'fields'> & { fields?: Json | null | undefined },
): VideoTemplateChange {
  const { fields, ...rest } = input;
  return fields === undefined ? rest : { ...rest, fields: readObject(fields) };
}

function readObject(fields: Json): JsonObject | null {
  if (fields === null) return null;
  if (typeof fields === 'object' && !Array.isArray(fields)) return fields as JsonObject;
  throw badInput('fields', 'fields must be a JSON object');
}
