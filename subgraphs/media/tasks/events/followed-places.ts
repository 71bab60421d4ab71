import type { MediaDatabase } from '../../database/database.ts';
import { type TaskEvent, isFinal } from '../../domain/task.ts';
import {
  acceptedAt,
  readEndedSince,
  readNamedTasks,
  readSeqsAt,
  RECENT_SECONDS,
  type OwnedTask,
} from '../storage/owned-tasks-store.ts';
import type { TaskLog } from './event-subscriber.ts';
import { MAX_PLACES, writeCursor, type Places, readCursor } from './place-cursor.ts';

/** How far one follower has read the tasks that it follows. */
export type FollowedPlaces = ReturnType<typeof createFollowedPlaces>;

interface Place {
  readonly taskId: string;
  /** The last entry that was read. */
  seq: number;
  /** When that was written, in epoch milliseconds; 0 before the first. */
  at: number;
  /** Whether an entry was handed out that has not been read. */
  isWaiting: boolean;
  /** When its end was passed on, in epoch milliseconds; null while it is followed. */
  endedAt: number | null;
  /** Null before it is followed, and after its end. */
  log: TaskLog | null;
}

/** Most tasks that are followed at once. */
const MAX_FOLLOWED = 1_000;
/** Most ended tasks that are known besides. */
const MAX_ENDED = 10_000;
/** Who comes back is shown what has ended since so long before its cursor, unless that is known to it. */
const ENDED_MS = 60_000;
/** Ended tasks are known for longer than that: clocks differ. */
const KNOWN_MS = 90_000;
/** What was written longer ago than this has been read, unless its log is behind. */
const SETTLED_MS = 10_000;

/** Makes it, with nothing followed, for who began at a moment (epoch milliseconds). */
export function createFollowedPlaces(began: number) {
  /** Those that a cursor lists, whose entries were read last, in that order; and the others. */
  const recent = new Map<string, Place>();
  const others = new Map<string, Place>();
  let open = 0;

  function list(place: Place): void {
    recent.delete(place.taskId);
    others.delete(place.taskId);
    recent.set(place.taskId, place);
    if (recent.size <= MAX_PLACES) return;
    // What is behind stays: for the others one moment says how far they were read.
    const left = findFirst(recent.values(), (one) => !isBehind(one)) ?? place;
    recent.delete(left.taskId);
    others.set(left.taskId, left);
  }
  function forgetMost(): void {
    const left = findFirst(others.values(), ({ endedAt }) => endedAt !== null);
    if (left !== null && others.size > MAX_FOLLOWED + MAX_ENDED) others.delete(left.taskId);
  }
  return {
    /** Begins to follow a task after an entry; false when it is known, or too many are followed. */
    begin(taskId: string, after: number): boolean {
      if (open >= MAX_FOLLOWED || recent.has(taskId) || others.has(taskId)) return false;
      list({ taskId, seq: after, at: 0, isWaiting: false, endedAt: null, log: null });
      open += 1;
      return true;
    },
    /** Passes the entries of a task on, and notes which of them wait to be read. */
    async *note(taskId: string, log: TaskLog): AsyncIterable<TaskEvent> {
      const place = recent.get(taskId) ?? others.get(taskId);
      if (place !== undefined) place.log = log;
      for await (const event of log) {
        if (place !== undefined) place.isWaiting = true;
        yield event;
      }
      if (place !== undefined) Object.assign(place, { endedAt: Date.now(), log: null });
      open -= 1;
    },
    /** An entry has been read. */
    read({ taskId, seq, at }: TaskEvent): void {
      const place = recent.get(taskId) ?? others.get(taskId);
      if (place === undefined) return;
      Object.assign(place, { seq, at: at.getTime(), isWaiting: false });
      list(place);
      forgetMost();
    },
    /** Forgets ended tasks that a look for tasks does not find any more; a cursor needs them for some time. */
    forget(found: ReadonlySet<string>): void {
      const before = Date.now() - KNOWN_MS;
      for (const places of [recent, others])
        for (const { taskId, endedAt } of places.values())
          if (endedAt !== null && endedAt < before && !found.has(taskId)) places.delete(taskId);
    },
    /** Where the follower is. */
    cursor(): string {
      const now = Date.now();
      // While too many are open, some that end were never followed.
      const beganAt = open >= MAX_FOLLOWED ? 0 : began;
      const seqs = new Map([...recent.values()].map(({ taskId, seq }) => [taskId, seq]));
      return writeCursor({ madeAt: now, beganAt, floor: computeFloor(others.values(), now), seqs });
    },
  };
}

function isBehind({ isWaiting, endedAt, log }: Place): boolean {
  return isWaiting || (endedAt === null && log?.isBehind() !== false);
}

/** The moment up to which all of these were read: no entry may be lost, some may come again. */
function computeFloor(places: Iterable<Place>, now: number): number {
  let latest = 0;
  for (const place of places) {
    if (isBehind(place)) return 0;
    latest = Math.max(latest, place.at);
  }
  return Math.min(latest, now - SETTLED_MS);
}

function findFirst<Value>(values: Iterable<Value>, is: (value: Value) => boolean): Value | null {
  for (const value of values) if (is(value)) return value;
  return null;
}

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
