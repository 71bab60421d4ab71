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
