import type { ColumnType, Generated, JSONColumnType } from 'kysely';

import type { JsonObject } from '../../../platform/json.ts';

/** The catalog of video templates. `task_type` is unique among the living; deleted rows stay. */
export interface VideoTemplateTable {
  readonly id: Generated<number>;
  readonly task_type: string;
  readonly prompt: string | null;
  readonly cover_url: string | null;
  readonly video_url: string | null;
  readonly aspect_ratio: string | null;
  readonly preset_prompts: string[];
  /** Everything else that was sent, as it was sent. */
  readonly fields: JSONColumnType<JsonObject>;
  readonly created_at: Generated<Date>;
  readonly updated_at: ColumnType<Date, Date | undefined, Date>;
  readonly deleted_at: Date | null;
}

/** The tables video-templates/ reads and writes. */
export interface VideoTemplateTables {
  readonly 'media.video_templates': VideoTemplateTable;
}
