import { sql } from 'kysely';

import type { MediaDatabase } from '../database/database.ts';
import type {
  VideoTemplate,
  VideoTemplateFilter,
  VideoTemplateQuery,
  VideoTemplatesAfter,
} from './video-template.ts';

/** A whole new row, as the service has checked it. */
export type NewVideoTemplate = Omit<VideoTemplate, 'id' | 'deletedAt'>;

/** The SQL of the catalog; no rules here. */
export type VideoTemplateStore = ReturnType<typeof createVideoTemplateStore>;

/** A store over the media schema's catalog table. */
export function createVideoTemplateStore(database: MediaDatabase) {
  return {
    after: ({ first, after, ...filter }: VideoTemplatesAfter): Promise<VideoTemplate[]> =>
      matching(database, filter).selectAll().where('id', '>', after).orderBy('id').limit(first).execute(),
    count: (filter: VideoTemplateFilter): Promise<number> => count(database, filter),
    page: (query: VideoTemplateQuery): Promise<{ items: VideoTemplate[]; total: number }> =>
      readPage(database, query),
    byIds: async (ids: readonly number[]): Promise<VideoTemplate[]> => {
      if (ids.length === 0) return [];
      const rows = await living(database, { deletedToo: true })
        .where('id', 'in', [...ids])
        .execute();
      return rows;
    },
    living: async (taskType: string): Promise<VideoTemplate | null> => {
      const row = await living(database).where('taskType', '=', taskType).executeTakeFirst();
      return row ?? null;
    },
    /** Fails with a unique violation when the task type is taken. */
    insert: (template: NewVideoTemplate): Promise<VideoTemplate> =>
      database
        .insertInto('media.videoTemplates')
        .values(toRow(template))
        .returningAll()
        .executeTakeFirstOrThrow(),
    /** Writes the given members, merges `fields`; null when no living row has the id. */
    update: (id: number, change: Partial<NewVideoTemplate>): Promise<VideoTemplate | null> =>
      update(database, id, change),
    /** Null when no living row has the id. */
    markDeleted: async (id: number): Promise<VideoTemplate | null> => {
      const row = await database
        .updateTable('media.videoTemplates')
        .set({ deletedAt: new Date(), updatedAt: new Date() })
        .where('id', '=', id)
        .where('deletedAt', 'is', null)
        .returningAll()
        .executeTakeFirst();
      return row ?? null;
    },
    /** Adds those whose task type no row ever had, living or deleted. */
    insertMissing: (templates: readonly NewVideoTemplate[]): Promise<void> =>
      insertMissing(database, templates),
  };
}

function living(database: MediaDatabase, { deletedToo = false } = {}) {
  const all = database.selectFrom('media.videoTemplates').selectAll();
  return deletedToo ? all : all.where('deletedAt', 'is', null);
}

function matching(database: MediaDatabase, { taskType, category }: VideoTemplateFilter) {
  let found = database.selectFrom('media.videoTemplates').where('deletedAt', 'is', null);
  if (taskType !== null) found = found.where('taskType', '=', taskType);
  if (category !== null) found = found.where(sql`fields ->> 'category'`, '=', category);
  return found;
}

async function count(database: MediaDatabase, filter: VideoTemplateFilter): Promise<number> {
  const counted = matching(database, filter).select(sql<string>`count(*)`.as('total'));
  return Number((await counted.executeTakeFirstOrThrow()).total);
}

async function readPage(database: MediaDatabase, { page, pageSize, ...filter }: VideoTemplateQuery) {
  const total = await count(database, filter);
  const rows = await matching(database, filter)
    .selectAll()
    .orderBy('id')
    .limit(pageSize)
    .offset((page - 1) * pageSize)
    .execute();
  return { items: rows, total };
}

async function update(
  database: MediaDatabase,
  id: number,
  { fields, presetPrompts, ...change }: Partial<NewVideoTemplate>,
): Promise<VideoTemplate | null> {
  const row = await database
    .updateTable('media.videoTemplates')
    .set({ ...change, updatedAt: new Date() })
    .$if(presetPrompts !== undefined, (query) => query.set({ presetPrompts: [...(presetPrompts ?? [])] }))
    .$if(fields !== undefined, (query) =>
      query.set({ fields: sql<string>`fields || ${JSON.stringify(fields)}::jsonb` }),
    )
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

async function insertMissing(database: MediaDatabase, templates: readonly NewVideoTemplate[]): Promise<void> {
  if (templates.length === 0) return;
  const taskTypes = templates.map(({ taskType }) => taskType);
  const known = await database
    .selectFrom('media.videoTemplates')
    .select('taskType')
    .where('taskType', 'in', taskTypes)
    .execute();
  const missing = templates.filter(({ taskType }) => !known.some((row) => row.taskType === taskType));
  if (missing.length === 0) return;
  // Another process may do the same at this moment: the unique index decides, and both are content.
  await database
    .insertInto('media.videoTemplates')
    .values(missing.map(toRow))
    .onConflict((conflict) => conflict.column('taskType').where('deletedAt', 'is', null).doNothing())
    .execute();
}

function toRow(template: NewVideoTemplate) {
  return { ...template, presetPrompts: [...template.presetPrompts], fields: JSON.stringify(template.fields) };
}
