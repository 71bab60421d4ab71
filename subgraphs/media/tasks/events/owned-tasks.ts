import { batchReads } from '../../../../platform/database/batched-reads.ts';
import { toError } from '../../../../platform/errors.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import { outsideSpans } from '../../../../platform/tracing/span.ts';
import type { MediaDatabase } from '../../database/database.ts';
import { isFinal, type TaskEvent } from '../../domain/task.ts';
import { readEndedSince, readOpenTasks, readSeqsAt, type OwnedTask } from '../storage/owned-tasks-store.ts';
import type { EventHub } from './event-hub.ts';
import { createMergedStream, type MergedStream } from './merged-stream.ts';

/**
 * Follows all tasks of an owner, or of everybody, as one stream: the newest entry of each task that is open, then what is written, also
 * to tasks that are accepted later. Tasks are found by one query a second for all subscribers of this process; their
 * entries come from the event hub.
 */
export interface OwnedTasks {
  /**
   * `endedSince`: begins also with the last entry of tasks that have ended after this moment. `since`: begins with every entry
   * after this moment, and with nothing else.
   */
  watch(subscription: {
    /** Null means everybody. */
    readonly owner: string | null;
    readonly endedSince: Date | null;
    readonly since: Date | null;
    readonly signal: AbortSignal;
  }): Promise<AsyncIterableIterator<TaskEvent>>;
  /** Ends every stream. */
  close(error: Error): void;
}

export interface OwnedTasksOptions {
  readonly database: MediaDatabase;
  readonly hub: EventHub;
  readonly logger: Logger;
}

interface Follower {
  readonly owner: string | null;
  readonly signal: AbortSignal;
  readonly stream: MergedStream<TaskEvent>;
  /** Tasks that were joined and may be found again. */
  readonly joined: Set<string>;
}

/** Pause between two looks for new tasks. */
const LOOK_MS = 1_000;

/** Makes it; it asks nothing while nobody subscribes. */
export function createOwnedTasks({ database, hub, logger }: OwnedTasksOptions): OwnedTasks {
  const followers = new Set<Follower>();
  // Thousands may come at once.
  const readOpen = batchReads({
    read: (owners) => openByOwner(database, owners),
    idOf: ({ owner }) => owner,
  });
  let timer: NodeJS.Timeout | null = null;
  let looking = false;

  function look(): void {
    if (looking) return;
    looking = true;
    void joinNew({ database, hub }, followers)
      .catch((error: unknown) =>
        logger.warn({ error: toError(error) }, 'tasks of subscribers could not be read'),
      )
      .finally(() => {
        looking = false;
      });
  }
  function leave(follower: Follower): void {
    followers.delete(follower);
    if (followers.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  }
  return {
    async watch({ owner, endedSince, since, signal }) {
      const leaving = new AbortController();
      const stream = createMergedStream<TaskEvent>(() => {
        leaving.abort();
        leave(follower);
      });
      const follower: Follower = { owner, signal: leaving.signal, stream, joined: new Set() };
      const found = (await readOpen([owner ?? EVERYBODY])).get(owner ?? EVERYBODY)?.tasks ?? [];
      await joinFirst({ database, hub }, follower, { found, endedSince, since });
      if (signal.aborted) stream.end(null);
      else {
        signal.addEventListener('abort', () => stream.end(null), { once: true });
        followers.add(follower);
        timer ??= outsideSpans(() => setInterval(look, LOOK_MS));
      }
      return stream.iterator;
    },
    close(error) {
      for (const { stream } of followers) stream.end(error);
    },
  };
}

/** In place of an owner. */
const EVERYBODY = '';

async function openByOwner(database: MediaDatabase, owners: readonly string[]) {
  const found = await readOpenTasks(
    database,
    owners.map((owner) => (owner === EVERYBODY ? null : owner)),
  );
  const byOwner = Map.groupBy(found, ({ owner }) => owner);
  return owners.map((owner) => ({
    owner,
    tasks: owner === EVERYBODY ? found : (byOwner.get(owner) ?? []),
  }));
}

interface Found {
  /** What was open a moment ago. */
  readonly found: readonly OwnedTask[];
  readonly endedSince: Date | null;
  readonly since: Date | null;
}

type Sources = Pick<OwnedTasksOptions, 'database' | 'hub'>;

/** The newest entry of what is open and, where it is asked for, of what has ended since; or every entry since a moment. */
async function joinFirst(
  { database, hub }: Sources,
  follower: Follower,
  { found, endedSince, since }: Found,
): Promise<void> {
  // After these, so that what ends between the two is in both, not in none.
  const moment = since ?? endedSince;
  const ended = moment === null ? [] : await readEndedSince(database, follower.owner, moment);
  const [recent, open] = [found.filter(hasEnded), found.filter((task) => !hasEnded(task))];
  const first = [...ended, ...open];
  const seqs = since === null ? null : await readSeqsAt(database, first, since);
  for (const task of first) join(hub, follower, task, seqs?.get(task.id) ?? task.lastSeq - 1);
  for (const { id } of recent) follower.joined.add(id);
}

function hasEnded({ state }: OwnedTask): boolean {
  return isFinal(state);
}

async function joinNew({ database, hub }: Sources, followers: ReadonlySet<Follower>): Promise<void> {
  const found = await readOpenTasks(database, [...new Set([...followers].map(({ owner }) => owner))]);
  const byOwner = Map.groupBy(found, ({ owner }) => owner);
  for (const follower of followers) {
    const own = follower.owner === null ? found : (byOwner.get(follower.owner) ?? []);
    for (const task of own) join(hub, follower, task, 0);
    // What is not found any more never will be again.
    const ids = new Set(own.map(({ id }) => id));
    for (const id of follower.joined) if (!ids.has(id)) follower.joined.delete(id);
  }
}

function join(hub: EventHub, follower: Follower, task: OwnedTask, after: number): void {
  const { joined, signal, stream } = follower;
  if (joined.has(task.id)) return;
  joined.add(task.id);
  stream.add(hub.subscribe({ taskId: task.id, after, signal, state: task.state, lastSeq: task.lastSeq }));
}
