import { sql, type Kysely, type Selectable, type Updateable } from 'kysely';

import type { VideoTemplateTable, VideoTemplateTables } from '../database/video-template-tables.ts';
import type { VideoTemplate, VideoTemplateQuery } from './video-template.ts';

/** A whole new row, as the service has checked it. */
export type NewVideoTemplate = Omit<VideoTemplate, 'id' | 'deletedAt'>;

/** The SQL of the catalog; no rules here. */
export interface VideoTemplateStore {
  page(query: VideoTemplateQuery): Promise<{ items: VideoTemplate[]; total: number }>;
  byIds(ids: readonly number[]): Promise<VideoTemplate[]>;
  living(taskType: string): Promise<VideoTemplate | null>;
  /** Fails with a unique violation when the task type is taken. */
  insert(template: NewVideoTemplate): Promise<VideoTemplate>;
  /** Writes the given members, merges `fields`; null when no living row has the id. */
  update(id: number, change: Partial<NewVideoTemplate>): Promise<VideoTemplate | null>;
  /** Null when no living row has the id. */
  markDeleted(id: number): Promise<VideoTemplate | null>;
  /** Adds those whose task type no row ever had, living or deleted. */
  insertMissing(templates: readonly NewVideoTemplate[]): Promise<void>;
}

/** A store over the media schema's catalog table. */
export function createVideoTemplateStore(database: Kysely<VideoTemplateTables>): VideoTemplateStore {
  return {
    page: (query) => readPage(database, query),
    byIds: async (ids) => {
      if (ids.length === 0) return [];
      const rows = await living(database, { deletedToo: true })
        .where('id', 'in', [...ids])
        .execute();
      return rows.map(templateOf);
    },
    living: async (taskType) => {
      const row = await living(database).where('task_type', '=', taskType).executeTakeFirst();
      return row === undefined ? null : templateOf(row);
    },
    insert: async (template) =>
      templateOf(
        await database
          .insertInto('media.video_templates')
          .values(rowOf(template))
          .returningAll()
          .executeTakeFirstOrThrow(),
      ),
    update: (id, change) => update(database, id, change),
    markDeleted: async (id) => {
      const row = await database
        .updateTable('media.video_templates')
        .set({ deleted_at: new Date(), updated_at: new Date() })
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .returningAll()
        .executeTakeFirst();
      return row === undefined ? null : templateOf(row);
    },
    insertMissing: (templates) => insertMissing(database, templates),
  };
}

function living(database: Kysely<VideoTemplateTables>, { deletedToo = false } = {}) {
  const all = database.selectFrom('media.video_templates').selectAll();
  return deletedToo ? all : all.where('deleted_at', 'is', null);
}

async function readPage(database: Kysely<VideoTemplateTables>, query: VideoTemplateQuery) {
  const { taskType, category, page, pageSize } = query;
  let matching = database.selectFrom('media.video_templates').where('deleted_at', 'is', null);
  if (taskType !== null) matching = matching.where('task_type', '=', taskType);
  if (category !== null) matching = matching.where(sql`fields ->> 'category'`, '=', category);
  const counted = await matching.select(sql<string>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const rows = await matching
    .selectAll()
    .orderBy('id')
    .limit(pageSize)
    .offset((page - 1) * pageSize)
    .execute();
  return { items: rows.map(templateOf), total: Number(counted.total) };
}

async function update(
  database: Kysely<VideoTemplateTables>,
  id: number,
  { fields, ...change }: Partial<NewVideoTemplate>,
): Promise<VideoTemplate | null> {
  const named = columnsOf(change);
  const row = await database
    .updateTable('media.video_templates')
    .set({ ...named, updated_at: new Date() })
    .$if(fields !== undefined, (query) =>
      query.set({ fields: sql<string>`fields || ${JSON.stringify(fields)}::jsonb` }),
    )
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? null : templateOf(row);
}

async function insertMissing(
  database: Kysely<VideoTemplateTables>,
  templates: readonly NewVideoTemplate[],
): Promise<void> {
  if (templates.length === 0) return;
  const taskTypes = templates.map(({ taskType }) => taskType);
  const known = await database
    .selectFrom('media.video_templates')
    .select('task_type')
    .where('task_type', 'in', taskTypes)
    .execute();
  const missing = templates.filter(({ taskType }) => !known.some((row) => row.task_type === taskType));
  if (missing.length === 0) return;
  // Another process may do the same at this moment: the unique index decides, and both are content.
  await database
    .insertInto('media.video_templates')
    .values(missing.map(rowOf))
    .onConflict((conflict) => conflict.column('task_type').where('deleted_at', 'is', null).doNothing())
    .execute();
}

function columnsOf(change: Partial<Omit<NewVideoTemplate, 'fields'>>): Updateable<VideoTemplateTable> {
  const { taskType, prompt, coverUrl, videoUrl, aspectRatio, presetPrompts } = change;
  return {
    ...(taskType === undefined ? {} : { task_type: taskType }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(coverUrl === undefined ? {} : { cover_url: coverUrl }),
    ...(videoUrl === undefined ? {} : { video_url: videoUrl }),
    ...(aspectRatio === undefined ? {} : { aspect_ratio: aspectRatio }),
    ...(presetPrompts === undefined ? {} : { preset_prompts: [...presetPrompts] }),
  };
}

function rowOf(template: NewVideoTemplate) {
  return {
    task_type: template.taskType,
    prompt: template.prompt,
    cover_url: template.coverUrl,
    video_url: template.videoUrl,
    aspect_ratio: template.aspectRatio,
    preset_prompts: [...template.presetPrompts],
    fields: JSON.stringify(template.fields),
    deleted_at: null,
  };
}

function templateOf(row: Selectable<VideoTemplateTable>): VideoTemplate {
  return {
    id: row.id,
    taskType: row.task_type,
    prompt: row.prompt,
    coverUrl: row.cover_url,
    videoUrl: row.video_url,
    aspectRatio: row.aspect_ratio,
    presetPrompts: row.preset_prompts,
    fields: row.fields,
    deletedAt: row.deleted_at,
  };
}
