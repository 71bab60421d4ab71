import type { JsonObject } from '../../../platform/json.ts';
import type { VideoTemplateFields, VideoTemplateInput } from '../../documents/media/template.ts';

/** A video template as the REST document writes it, from and to the GraphQL names. Pure. */

/** Documented fields that GraphQL keeps among the additional ones. */
const documentedExtras = [
  'description',
  'detailDescription',
  'title_zh',
  'title_en',
  'description_zh',
  'description_en',
  'engine',
] as const;

/** Documented fields with a member of their own in GraphQL, and what the server itself gives. */
const ownFields: readonly string[] = [
  'id',
  'task_type',
  'prompt',
  'cover_url',
  'video_url',
  'aspect_ratio',
  'presetPrompts',
];

/** The typed fields of a create or update body; an absent field is undefined. */
export interface TemplateBody {
  readonly task_type?: string | undefined;
  readonly prompt?: string | undefined;
  readonly cover_url?: string | undefined;
  readonly video_url?: string | undefined;
  readonly aspect_ratio?: string | undefined;
  readonly presetPrompts?: string | undefined;
}

/** What to write: only what the body has. Every further field of the body travels as it was sent. */
export function templateInput(body: TemplateBody, json: JsonObject): VideoTemplateInput {
  const { task_type, prompt, cover_url, video_url, aspect_ratio, presetPrompts } = body;
  const extras = Object.entries(json).filter(([name]) => !ownFields.includes(name));
  return {
    ...(task_type === undefined ? {} : { taskType: task_type }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(cover_url === undefined ? {} : { coverUrl: cover_url }),
    ...(video_url === undefined ? {} : { videoUrl: video_url }),
    ...(aspect_ratio === undefined ? {} : { aspectRatio: aspect_ratio }),
    ...(presetPrompts === undefined ? {} : { presetPrompts: linesOf(presetPrompts) }),
    ...(extras.length === 0 ? {} : { fields: Object.fromEntries(extras) }),
  };
}

/** The whole template: documented fields always present, null when unknown; additional ones as they were sent. */
export function templateReply(template: VideoTemplateFields): object {
  const sent = Object.entries(isObject(template.fields) ? template.fields : {});
  return {
    id: Number(template.id),
    task_type: template.taskType,
    prompt: template.prompt,
    cover_url: template.coverUrl,
    video_url: template.videoUrl,
    aspect_ratio: template.aspectRatio,
    presetPrompts: template.presetPrompts.join('\n'),
    ...Object.fromEntries(documentedExtras.map((name) => [name, null])),
    ...Object.fromEntries(sent.filter(([name]) => !ownFields.includes(name))),
  };
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '');
}

function isObject(value: VideoTemplateFields['fields']): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
