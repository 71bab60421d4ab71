import type { MediaDatabase } from '../../database/database.ts';
import { isFinal } from '../../domain/task.ts';
import {
  acceptedAt,
  readEndedSince,
  readNamedTasks,
  readSeqsAt,
  RECENT_SECONDS,
  type OwnedTask,
} from '../storage/owned-tasks-store.ts';
import { ENDED_MS } from './followed-places.ts';
import { type Places, readCursor } from './place-cursor.ts';

/** From where all tasks of an owner are followed. */
export interface Beginning {
  /** Cursor of the last entry that was read: begins with what came after it in each log, and the rest is not asked. */
  readonly after: string | null;
  /** Begins also with the last entry of tasks that have ended after this moment. */
  readonly endedSince: Date | null;
  /** Begins with every entry after this moment, and with nothing else. */
  readonly since: Date | null;
}

interface BeginningRequest extends Beginning {
  readonly owner: string | null;
  /** What was open a moment ago, and what has just ended. */
  readonly found: readonly OwnedTask[];
}

/** A task to follow, after an entry of its log. */
interface Begun {
  readonly task: OwnedTask;
  readonly after: number;
}

/** The tasks with which it begins, and when who comes back began. */
export async function readBeginning(
  database: MediaDatabase,
  asked: BeginningRequest,
): Promise<{ readonly tasks: readonly Begun[]; readonly beganAt: number }> {
  if (asked.after === null) return { tasks: await begin(database, asked), beganAt: Date.now() };
  const places = readCursor(asked.after);
  return { tasks: await comeBack(database, asked, places), beganAt: places.beganAt };
}

async function begin(database: MediaDatabase, asked: BeginningRequest): Promise<readonly Begun[]> {
  const { owner, found, endedSince, since } = asked;
  // After these, so that what ends between the two is in both, not in none.
  const moment = since ?? endedSince;
  const ended = moment === null ? [] : await readEndedSince(database, owner, moment);
  const first = [...ended, ...found.filter((task) => !isFinal(task.state))];
  const seqs = since === null ? null : await readSeqsAt(database, first, since);
  const begun = first.map((task) => ({ task, after: seqs?.get(task.id) ?? task.lastSeq - 1 }));
  // What has just ended is known, and over.
  const over = found.filter(({ state }) => isFinal(state));
  return [...begun, ...over.map((task) => ({ task, after: task.lastSeq }))];
}

/** Each log after what was read of it: those that are listed after their entry, others after a moment or from the beginning. */
async function comeBack(
  database: MediaDatabase,
  { owner, found }: BeginningRequest,
  { madeAt, beganAt, floor, seqs }: Places,
): Promise<readonly Begun[]> {
  const ended = await readEndedSince(database, owner, new Date(madeAt - ENDED_MS));
  // What had ended when it began is not listed, and was accepted before.
  const isItsOwn = ({ id, state }: OwnedTask) =>
    floor > 0 || !isFinal(state) || seqs.has(id) || acceptedAt(id) >= beganAt - RECENT_SECONDS * 1_000;
  const known = new Map([...ended, ...found].filter(isItsOwn).map((task) => [task.id, task]));
  const missing = [...seqs.keys()].filter((id) => !known.has(id));
  for (const task of await readNamedTasks(database, owner, missing)) known.set(task.id, task);
  const tasks = [...known.values()];
  const others = tasks.filter(({ id }) => !seqs.has(id));
  const read = floor === 0 ? null : await readSeqsAt(database, others, new Date(floor));
  return tasks.map((task) => ({ task, after: seqs.get(task.id) ?? read?.get(task.id) ?? 0 }));
}
