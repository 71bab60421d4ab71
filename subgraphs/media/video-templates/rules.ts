import { badInput } from '../../../platform/errors.ts';
import type { VideoTemplateFilter, VideoTemplateQuery } from './video-template.ts';

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
