import { type RawBuilder, sql } from 'kysely';

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
