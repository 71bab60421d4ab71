import { CompiledQuery } from 'kysely';

import { asMembers, columnOf, taskNames } from '../../database/columns.ts';
import type { MediaDatabase, TaskRow } from '../../database/database.ts';
import type { StoredFile } from '../../files/files.ts';
import { fileColumns, readFiles } from '../../files/store.ts';

/**
 * A task with all that a status tells, in one statement: polls are the most frequent requests. The text is written once,
 * with the names that readers use, so that nothing is built or renamed for a read.
 */
export interface WholeTaskRow extends TaskRow {
  /** Provider and model of the attempt that made the result, else of the newest one; null before the first. */
  readonly doneBy: { readonly provider: string; readonly model: string | null } | null;
  /** The files that it made, in order, without deleted ones. */
  readonly files: readonly StoredFile[];
}

// "offset 0" has each file read by its id: the planner takes every list for a hundred files, and would read all there are.
const TEXT = `/* prepared: tasks.read-whole */
  select ${asMembers(taskNames)},
    (select jsonb_build_object('provider', provider, 'model', model) from media.attempts
     where task_id = task.id order by attempts.state = 'SUCCEEDED' desc, step desc, number desc limit 1) as "doneBy",
    (select json_agg(json_build_object(${fileColumns.map((name) => `'${name}', file.${columnOf(name)}`).join(', ')})
       order by position)
     from jsonb_array_elements_text(task.result -> 'mediaIds') with ordinality as output (id, position)
     cross join lateral (
       select * from media.media where media.id = output.id::uuid and state = 'STORED' offset 0) file) as files
  from media.tasks task where id = any($1::uuid[])`;

type Read = Omit<WholeTaskRow, 'files'> & {
  readonly files: readonly (Omit<StoredFile, 'createdAt'> & { readonly createdAt: string })[] | null;
};

/** The rows there are, in no order. */
export async function readWholeTasks(
  database: MediaDatabase,
  ids: readonly string[],
): Promise<readonly WholeTaskRow[]> {
  const { rows } = await database.withoutPlugins().executeQuery(CompiledQuery.raw(TEXT, [ids]));
  return (rows as readonly Read[]).map(({ files, ...task }) => ({
    ...task,
    files: (files ?? []).map((file) => ({ ...file, createdAt: new Date(file.createdAt) })),
  }));
}

/** Tasks of a page with the files that they made, which have the members that are needed; one statement for all. */
export async function withFiles(
  database: MediaDatabase,
  tasks: readonly TaskRow[],
  isNeeded: (member: string) => boolean,
): Promise<readonly (TaskRow & Pick<WholeTaskRow, 'files'>)[]> {
  const ids = tasks.flatMap(({ result }) => result?.mediaIds ?? []);
  const columns = fileColumns.filter((name) => name === 'id' || isNeeded(name));
  const files = new Map((await readFiles(database, ids, columns)).map((file) => [file.id, file]));
  return tasks.map((task) => ({
    ...task,
    files: (task.result?.mediaIds ?? []).map((id) => files.get(id)).filter((file) => file !== undefined),
  }));
}
