import { badInput } from '../../../platform/errors.ts';
import type { JsonObject } from '../../../platform/json.ts';

/** One entry of the video template catalog, identified by its task type among the living. */
export interface VideoTemplate {
  readonly id: number;
  readonly taskType: string;
  readonly prompt: string | null;
  readonly coverUrl: string | null;
  readonly videoUrl: string | null;
  /** W:H. */
  readonly aspectRatio: string | null;
  readonly presetPrompts: readonly string[];
  /** Additional properties, stored and returned as they were sent (titles, descriptions, engine, category, ...). */
  readonly fields: JsonObject;
  readonly deletedAt: Date | null;
}

/** What create and update take. Absent leaves as it is, null clears. */
export interface VideoTemplateChange {
  readonly taskType?: string | null | undefined;
  readonly prompt?: string | null | undefined;
  readonly coverUrl?: string | null | undefined;
  readonly videoUrl?: string | null | undefined;
  readonly aspectRatio?: string | null | undefined;
  readonly presetPrompts?: readonly string[] | null | undefined;
  /** Merged over what is there, property by property. */
  readonly fields?: JsonObject | null | undefined;
}

/** Which templates are listed. */
export interface VideoTemplateFilter {
  readonly taskType: string | null;
  /** The additional property `category`; null or 全部 means all. */
  readonly category: string | null;
}

/** Those that come after one. */
export interface VideoTemplatesAfter extends VideoTemplateFilter {
  readonly first: number;
  /** Id of the last one already seen; 0 for the first page. */
  readonly after: number;
}

/** Templates of a list, in the order of their ids. */
export interface VideoTemplateList {
  readonly items: readonly VideoTemplate[];
  readonly hasNextPage: boolean;
  /** How many there are on all pages. */
  readonly count: () => Promise<number>;
}

/** A numbered page of a list of templates. */
export interface VideoTemplateQuery extends VideoTemplateFilter {
  /** From 1; a page past the end is empty. */
  readonly page: number;
  /** 1 to 1,000. */
  readonly pageSize: number;
}

/** A page of templates. */
export interface VideoTemplatePage {
  readonly items: readonly VideoTemplate[];
  readonly page: number;
  readonly pageSize: number;
  readonly total: number;
}

/** The catalog and its rules. Implemented by createVideoTemplateService (service.ts). */
export interface VideoTemplateService {
  /** Living templates in the order of their ids. */
  list(query: VideoTemplatesAfter): Promise<VideoTemplateList>;
  /** The same by numbered pages. */
  page(query: VideoTemplateQuery): Promise<VideoTemplatePage>;
  /** In the order of the ids, deleted ones included; null where there is none. */
  byIds(ids: readonly string[]): Promise<readonly (VideoTemplate | null)[]>;
  /** The living template of a task type, or null. */
  living(taskType: string): Promise<VideoTemplate | null>;
  /** Whether a new template may take this task type. */
  isAvailable(taskType: string): Promise<boolean>;
  /** BAD_USER_INPUT naming the field, CONFLICT when the task type is taken. */
  create(change: VideoTemplateChange): Promise<VideoTemplate>;
  /** Partial. NOT_FOUND for an unknown or deleted id, else as create. */
  update(id: string, change: VideoTemplateChange): Promise<VideoTemplate>;
  /** Soft: the row stays, its task type is free again. NOT_FOUND for an unknown or deleted id. */
  remove(id: string): Promise<VideoTemplate>;
  /** Adds the bundled templates (tea, chop, lady, vlog) that never existed; a deleted one stays deleted. */
  importBundled(): Promise<void>;
}

/** The catalog's pure rules: what a member may hold. */

const longestText = 20_000;
const mostPresetPrompts = 100;
const mostFieldCharacters = 100_000;

/** A task type as it is stored: trimmed, 1 to 100 characters. */
export function checkedTaskType(taskType: string | null | undefined): string {
  const name = (taskType ?? '').trim();
  if (name === '') throw badInput('taskType', 'taskType must not be empty');
  if (name.length > 100) throw badInput('taskType', 'taskType may have at most 100 characters');
  if (name.includes('\0')) throw badInput('taskType', 'taskType may not contain NUL characters');
  return name;
}

/** Checks a text member: its length, and that it can be stored. */
export function checkedText(field: string, text: string | null): string | null {
  if (text === null) return null;
  if (text.length > longestText) throw badInput(field, `${field} may have at most ${longestText} characters`);
  // PostgreSQL's text has no NUL.
  if (text.includes('\0')) throw badInput(field, `${field} may not contain NUL characters`);
  return text;
}

/** Preset prompts without blank ones, each within the length of a text. */
export function checkedPresetPrompts(prompts: readonly string[] | null): readonly string[] {
  const nonEmpty = (prompts ?? []).map((prompt) => prompt.trim()).filter((prompt) => prompt !== '');
  if (nonEmpty.length > mostPresetPrompts)
    throw badInput('presetPrompts', `presetPrompts may have at most ${mostPresetPrompts} entries`);
  for (const prompt of nonEmpty) checkedText('presetPrompts', prompt);
  return nonEmpty;
}

/** Checks the size of the additional properties. */
export function checkedFields<Fields extends object>(fields: Fields): Fields {
  const text = JSON.stringify(fields);
  if (text.includes('\\u0000')) throw badInput('fields', 'fields may not contain NUL characters');
  if (text.length > mostFieldCharacters)
    throw badInput('fields', `fields may have at most ${mostFieldCharacters} characters`);
  return fields;
}

/** A page query within its bounds. */
export function checkedQuery(query: VideoTemplateQuery): VideoTemplateQuery {
  const { page, pageSize } = query;
  if (page < 1) throw badInput('page', 'page must be at least 1');
  if (pageSize < 1 || pageSize > 1000) throw badInput('pageSize', 'pageSize must be from 1 to 1000');
  return checkedFilter(query);
}

/** A filter whose category is one; 全部 means every category. */
export function checkedFilter<Filter extends VideoTemplateFilter>(filter: Filter): Filter {
  return { ...filter, category: filter.category === '全部' ? null : filter.category };
}
