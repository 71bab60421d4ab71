import { CompiledQuery } from 'kysely';
import { LRUCache } from 'lru-cache';

import { batchReads, type BatchedRead } from '../../../../platform/database/batched-reads.ts';
import { asMembers, toColumn, taskNames } from '../../database/columns.ts';
import type { MediaDatabase, TaskRow } from '../../database/database.ts';
import type { StoredFile } from '../../files/files.ts';
import { type FileColumn, fileColumns, readFiles } from '../../files/store.ts';

/**
 * A task with all that a status tells, in one statement: polls are the most frequent requests. A text is written once for
 * each selection, with the names that readers use, so that nothing is built or renamed for a read.
 */
export interface ReadTaskRow extends TaskRow {
  /** Provider and model of the attempt that made the result, else of the newest one; null before the first. */
  readonly doneBy: { readonly provider: string; readonly model: string | null } | null;
  /** The files that it made, in order, without deleted ones. */
  readonly files: readonly StoredFile[];
}

/** What of tasks is read. */
export interface TaskNeeds {
  /** Which members the tasks have, besides id and owner; all when absent. */
  readonly isNeeded?: ((member: string) => boolean) | undefined;
  /** Which members their files have, besides the id; without it no files are read. Their ids are in `result`. */
  readonly isFileNeeded?: ((member: string) => boolean) | undefined;
}

const all = (): boolean => true;
const EVERYTHING: TaskNeeds = { isNeeded: all, isFileNeeded: all };
/** Members of tasks that whoever reads them needs: to know which one it is, and who may see it. */
const ALWAYS: ReadonlySet<string> = new Set(['id', 'owner']);
/** Most kinds of reads whose statement is prepared: each connection keeps those for ever. Later ones are planned each time. */
const MOST_PREPARED = 32;
/** Most other kinds of reads that gather by themselves; the least recently used go first. */
const MOST_OTHERS = 256;

/** The columns of tasks that are needed. */
export const neededColumns = ({ isNeeded = all }: TaskNeeds): readonly (keyof TaskRow)[] =>
  taskNames.filter((name) => ALWAYS.has(name) || isNeeded(name));

const neededFileColumns = (isNeeded: (member: string) => boolean): readonly FileColumn[] =>
  fileColumns.filter((name) => name === 'id' || isNeeded(name));

const DONE_BY = `
    (select jsonb_build_object('provider', provider, 'model', model) from media.attempts
     where task_id = task.id order by attempts.state = 'SUCCEEDED' desc, step desc, number desc limit 1) as "doneBy"`;

// "offset 0" has each file read by its id: the planner takes every list for a hundred files, and would read all there are.
const filesWith = (columns: readonly FileColumn[]): string => `
    (select json_agg(json_build_object(${columns.map((name) => `'${name}', file.${toColumn(name)}`).join(', ')})
       order by position)
     from jsonb_array_elements_text(task.result -> 'mediaIds') with ordinality as output (id, position)
     cross join lateral (
       select * from media.media where media.id = output.id::uuid and state = 'STORED' offset 0) file) as files`;

function textFor(needs: TaskNeeds): string {
  const { isNeeded = all, isFileNeeded } = needs;
  const columns = [
    asMembers(neededColumns(needs)),
    ...(isNeeded('doneBy') ? [DONE_BY] : []),
    ...(isFileNeeded === undefined ? [] : [filesWith(neededFileColumns(isFileNeeded))]),
  ];
  return `
  select ${columns.join(', ')} from media.tasks task where id = any($1::uuid[])`;
}

type FileFacts = Omit<StoredFile, 'createdAt'>;
type FileAsJson = FileFacts & { readonly createdAt?: string };
type RowAsRead = Omit<ReadTaskRow, 'files'> & { readonly files?: readonly FileAsJson[] | null };

/** Reads tasks together with whoever needs the same of others; members that are not needed are not there. */
export type TaskReader = (
  ids: readonly string[],
  needs?: TaskNeeds,
) => Promise<ReadonlyMap<string, ReadTaskRow>>;

/** Makes the reader of a process: callers with the same needs share statements. */
export function createTaskReader(database: MediaDatabase): TaskReader {
  const prepared = new Map<string, BatchedRead<ReadTaskRow>>();
  const others = new LRUCache<string, BatchedRead<ReadTaskRow>>({ max: MOST_OTHERS });
  const byNeeds = new WeakMap<TaskNeeds, BatchedRead<ReadTaskRow>>();
  const findReader = (text: string): BatchedRead<ReadTaskRow> => {
    const known = prepared.get(text) ?? others.get(text);
    if (known !== undefined) return known;
    const isPrepared = prepared.size < MOST_PREPARED;
    const named = `/* ${isPrepared ? 'prepared: ' : ''}tasks.read-shared */${text}`;
    const read = (ids: readonly string[]) => readRows(database, named, ids);
    const reader = batchReads({ read, readId: ({ id }: ReadTaskRow) => id });
    (isPrepared ? prepared : others).set(text, reader);
    return reader;
  };
  findReader(textFor(EVERYTHING));
  return (ids, needs = EVERYTHING) => {
    let read = byNeeds.get(needs);
    if (read === undefined) {
      read = findReader(textFor(needs));
      byNeeds.set(needs, read);
    }
    return read(ids);
  };
}

async function readRows(
  database: MediaDatabase,
  text: string,
  ids: readonly string[],
): Promise<readonly ReadTaskRow[]> {
  const { rows } = await database.withoutPlugins().executeQuery(CompiledQuery.raw(text, [ids]));
  return (rows as readonly RowAsRead[]).map(({ files, ...task }) =>
    files === undefined ? (task as ReadTaskRow) : { ...task, files: (files ?? []).map(withDate) },
  );
}

/** A file as JSON has its date as text, where that is needed. */
function withDate(file: FileAsJson): StoredFile {
  if (file.createdAt !== undefined) return { ...file, createdAt: new Date(file.createdAt) };
  const facts: FileFacts = file;
  return facts as StoredFile;
}

/** Tasks of a page with the files that they made, which have the members that are needed; one statement for all. */
export async function withFiles(
  database: MediaDatabase,
  tasks: readonly TaskRow[],
  isNeeded: (member: string) => boolean,
): Promise<readonly (TaskRow & Pick<ReadTaskRow, 'files'>)[]> {
  const ids = tasks.flatMap(({ result }) => result?.mediaIds ?? []);
  const files = new Map(
    (await readFiles(database, ids, neededFileColumns(isNeeded))).map((file) => [file.id, file]),
  );
  return tasks.map((task) => ({
    ...task,
    files: (task.result?.mediaIds ?? []).map((id) => files.get(id)).filter((file) => file !== undefined),
  }));
}
