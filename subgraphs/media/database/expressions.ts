import { type RawBuilder, sql } from 'kysely';

import { isUuid } from '../../../platform/ids.ts';
import { jsonText } from '../../../platform/json.ts';

/**
 * The common table expression `entry`: a list as rows of these columns, which are declared as in SQL. The limit tells the
 * planner that they are few: it takes a list of JSON for a hundred rows, and would read whole tables for one. Of a subquery
 * it takes ten, whatever the number is, so that one plan serves all calls of a prepared statement.
 */
export function jsonEntries(list: readonly unknown[], columns: string): RawBuilder<unknown> {
  return sql`entry as materialized (
      select * from jsonb_to_recordset(${jsonText(list)}::jsonb) as entry(${sql.raw(columns)})
      limit (select ${list.length}::integer)
    )`;
}

/** Conditions on rows of `media.tasks`, for queries that have it in their `from` as `tasks`. */

/** Whether a task asks for a model, or was done by it. */
export function usesModel(model: string): RawBuilder<boolean> {
  return sql<boolean>`(tasks.input ->> 'model' = ${model} or exists (
    select 1 from media.attempts where attempts.task_id = tasks.id and attempts.model = ${model}))`;
}

/** Whether what a task shall show or say contains a text, in any case. */
export function containsText(text: string): RawBuilder<boolean> {
  const pattern = `%${text.replaceAll(/[\\%_]/g, (special) => `\\${special}`)}%`;
  return sql<boolean>`concat_ws(' ', tasks.input ->> 'prompt', tasks.input ->> 'text') ilike ${pattern}`;
}

/** Whether a file is among the inputs of a task, by its id or by its address, which holds the id. */
export function takesFile(id: string): RawBuilder<boolean> {
  return isUuid(id) ? sql<boolean>`strpos(tasks.input::text, ${id.toLowerCase()}) > 0` : sql<boolean>`false`;
}
