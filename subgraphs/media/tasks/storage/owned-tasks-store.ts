import { sql } from 'kysely';

import type { MediaDatabase } from '../../database/database.ts';
import type { TaskState } from '../../domain/task.ts';

/** SQL of following the tasks of an owner. */

/** A task as a follower joins it. */
export interface OwnedTask {
  readonly id: string;
  readonly owner: string;
  readonly lastSeq: number;
  readonly state: TaskState;
}

/** Most tasks of one owner, or of everybody, that are followed at once, the newest ones. */
const MAX_TASKS = 1_000;
/** A task that was accepted and has ended within this time is found too. */
export const RECENT_SECONDS = 10;

/** The open tasks of these owners (null means everybody), and the ones that were accepted in the last seconds. */
export async function readOpenTasks(
  database: MediaDatabase,
  owners: readonly (string | null)[],
): Promise<readonly OwnedTask[]> {
  const named = owners.filter((owner) => owner !== null);
  const ofOwners = named.length === 0 ? [] : await readOpen(database, named);
  if (named.length === owners.length) return ofOwners;
  const all = await readOpenOfAll(database);
  const known = new Set(all.map(({ id }) => id));
  return [...all, ...ofOwners.filter(({ id }) => !known.has(id))];
}

async function readOpen(database: MediaDatabase, owners: readonly string[]): Promise<readonly OwnedTask[]> {
  const { rows } = await sql<OwnedTask>`/* tasks.open-of-owners */
    select task.* from unnest(${[...owners]}::text[]) as owners (name)
    cross join lateral (
      (select id, owner, last_seq as "lastSeq", state from media.tasks
       where owner = owners.name and ended_at is null order by id desc limit ${MAX_TASKS})
      union
      (select id, owner, last_seq, state from media.tasks
       where owner = owners.name and id > ${firstRecentId()}::uuid
       order by id desc limit ${MAX_TASKS})
    ) task`.execute(database);
  return rows;
}

async function readOpenOfAll(database: MediaDatabase): Promise<readonly OwnedTask[]> {
  const { rows } = await sql<OwnedTask>`/* tasks.open-of-all */
    (select id, owner, last_seq as "lastSeq", state from media.tasks
     where ended_at is null order by id desc limit ${MAX_TASKS})
    union
    (select id, owner, last_seq, state from media.tasks
     where id > ${firstRecentId()}::uuid order by id desc limit ${MAX_TASKS})`.execute(database);
  return rows;
}

function firstRecentId(): string {
  return firstIdAt(new Date(Date.now() - RECENT_SECONDS * 1_000));
}

const DAY_MS = 86_400_000;

/** The tasks of an owner (null means everybody) that have ended after a moment, accepted at most a day before it. */
export async function readEndedSince(
  database: MediaDatabase,
  owner: string | null,
  since: Date,
): Promise<readonly OwnedTask[]> {
  const { rows } = await sql<OwnedTask>`/* tasks.ended-since */
    select id, owner, last_seq as "lastSeq", state from media.tasks
    where ${owner === null ? sql`true` : sql`owner = ${owner}`} and ended_at > ${since} and id > ${firstIdAt(new Date(since.getTime() - DAY_MS))}::uuid
    order by id desc limit ${MAX_TASKS}`.execute(database);
  return rows;
}

/** Those of these tasks that are an owner's (null means everybody's). */
export async function readNamedTasks(
  database: MediaDatabase,
  owner: string | null,
  ids: readonly string[],
): Promise<readonly OwnedTask[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<OwnedTask>`/* tasks.named */
    select id, owner, last_seq as "lastSeq", state from media.tasks
    where id = any(${[...ids]}::uuid[]) and ${owner === null ? sql`true` : sql`owner = ${owner}`}`.execute(
    database,
  );
  return rows;
}

/** How far the log of each task went at a moment; 0 where it began later. */
export async function readSeqsAt(
  database: MediaDatabase,
  tasks: readonly OwnedTask[],
  moment: Date,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ readonly id: string; readonly seq: number }>`/* tasks.seqs-at */
    select task.id, coalesce(event.seq, 0) as seq from unnest(${tasks.map(({ id }) => id)}::uuid[]) as task (id)
    left join lateral (
      select seq from media.task_events where task_id = task.id and at <= ${moment} order by seq desc limit 1
    ) event on true`.execute(database);
  return new Map(rows.map(({ id, seq }) => [id, seq]));
}

/** When a task was accepted, in epoch milliseconds: its id is a UUID v7. */
export function acceptedAt(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The least UUID v7 of a moment. */
function firstIdAt(moment: Date): string {
  const time = Math.max(0, moment.getTime()).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
