import {
  CreateVideoTemplate,
  DeleteVideoTemplate,
  TaskTypeAvailable,
  UpdateVideoTemplate,
  VideoTemplates,
} from '../documents/media/template.ts';
import { success } from '../replies/envelopes.ts';
import { route } from '../route/define-route.ts';
import { json, path, query } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import { templateInput, templateReply } from './shared/video-template.ts';

/** The documented word for "every category". */
const everyCategory = '全部';

/** The highest page that fits a GraphQL Int; there is nothing on it. */
const lastPage = 2 ** 31 - 1;

const body = { type: 'application/json', required: true, additionalProperties: true } as const;

const optional = { optional: true } as const;

/** Documented fields of both bodies, apart from id and task_type. */
const describedFields = {
  prompt: json.text(optional),
  cover_url: json.url(optional),
  video_url: json.url(optional),
  description: json.text(optional),
  detailDescription: json.text(optional),
  title_zh: json.nullableText(optional),
  title_en: json.nullableText(optional),
  description_zh: json.nullableText(optional),
  description_en: json.nullableText(optional),
  aspect_ratio: json.text(optional),
  engine: json.text(optional),
  presetPrompts: json.text(optional),
};

/** Video template catalog. */
export const templates: Section = {
  service: 'media',
  title: 'Video template catalog',
  routes: [
    route(VideoTemplates)({
      method: 'GET',
      path: '/api/template/default',
      params: {
        task_type: query.text(optional),
        page: query.integer({ fallback: 1, minimum: 1 }),
        page_size: query.integer({ fallback: 100, minimum: 1, maximum: 1000 }),
        category: query.text({ fallback: everyCategory }),
      },
      responseSchema: 'PagedTemplates',
      variables: ({ task_type, page, page_size, category }) => ({
        taskType: task_type,
        category: category === everyCategory ? undefined : category,
        page: Math.min(page, lastPage),
        pageSize: page_size,
      }),
      reply: ({ videoTemplates: { items, total } }, { input: { page, page_size } }) => ({
        status: true,
        data: items.map(templateReply),
        page,
        page_size,
        total,
        total_pages: Math.ceil(total / page_size),
      }),
    }),
    route(TaskTypeAvailable)({
      method: 'GET',
      path: '/api/template/check/task_type',
      params: { task_type: query.text() },
      variables: ({ task_type }) => ({ taskType: task_type }),
      responseSchema: 'TaskType',
      reply: ({ taskTypeAvailable }, { input: { task_type } }) =>
        success(
          { task_type, available: taskTypeAvailable },
          taskTypeAvailable ? 'the task type is available' : 'the task type is taken',
        ),
    }),
    route(CreateVideoTemplate)({
      method: 'POST',
      path: '/api/template/create',
      params: { id: json.integer(optional), task_type: json.text(), ...describedFields },
      body,
      variables: (input, sent) => ({ input: templateInput(input, sent) }),
      responseSchema: 'Template',
      reply: ({ createVideoTemplate }) => success(templateReply(createVideoTemplate), 'template created'),
    }),
    route(UpdateVideoTemplate)({
      method: 'PUT',
      path: '/api/template/update',
      params: { id: json.integer(), task_type: json.text(optional), ...describedFields },
      body,
      variables: (input, sent) => ({ id: String(input.id), input: templateInput(input, sent) }),
      responseSchema: 'Template',
      reply: ({ updateVideoTemplate }) => success(templateReply(updateVideoTemplate), 'template updated'),
    }),
    route(DeleteVideoTemplate)({
      method: 'DELETE',
      path: '/api/template/delete/{template_id}',
      params: { template_id: path.integer() },
      variables: ({ template_id }) => ({ id: String(template_id) }),
      responseSchema: 'DeletedTemplate',
      reply: ({ deleteVideoTemplate: { id } }) =>
        success({ id: Number(id), deleted: true }, 'template deleted'),
    }),
  ],
};
