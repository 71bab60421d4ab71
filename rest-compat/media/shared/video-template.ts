import { isObject, type JsonObject } from '../../../platform/json.ts';
import type { VideoTemplateFields, VideoTemplateInput } from '../../documents/media/template.ts';

/** Video templates between the names of the REST document and those of GraphQL. Pure. */

/** Documented fields that GraphQL has among the additional ones. */
const documentedExtras = [
  'description',
  'detailDescription',
  'title_zh',
  'title_en',
  'description_zh',
  'description_en',
  'engine',
] as const;

/** Documented fields with a member of their own in GraphQL, and the id. */
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

/** What to write: only what the body has. Undocumented fields are stored as they were sent. */
export function templateInput(
  { task_type, prompt, cover_url, video_url, aspect_ratio, presetPrompts }: TemplateBody,
  json: JsonObject,
): VideoTemplateInput {
  const extras = Object.entries(json).filter(([name]) => !ownFields.includes(name));
  return {
    taskType: task_type,
    prompt,
    coverUrl: cover_url,
    videoUrl: video_url,
    aspectRatio: aspect_ratio,
    presetPrompts: presetPrompts === undefined ? undefined : splitLines(presetPrompts),
    fields: extras.length === 0 ? undefined : Object.fromEntries(extras),
  };
}

/** The whole template: documented fields are always present, null when unknown; others are as they were sent. */
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

function splitLines(text: string): readonly string[] {
  return text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '');
}
