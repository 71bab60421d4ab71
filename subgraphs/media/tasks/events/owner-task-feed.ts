import { batchReads } from '../../../../platform/database/batched-reads.ts';
import { toError } from '../../../../platform/errors.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import { outsideSpans } from '../../../../platform/tracing/span.ts';
import type { MediaDatabase } from '../../database/database.ts';
import type { TaskEvent } from '../../domain/task.ts';
import { readOpenTasks, type OwnedTask } from '../storage/owned-tasks-store.ts';
import type { EventHub } from './event-hub.ts';
import {
  type Beginning,
  readBeginning,
  createFollowedPlaces,
  type FollowedPlaces,
} from './followed-places.ts';
import { createMergedStream, type MergedStream } from './merged-stream.ts';

/**
 * Follows all tasks of an owner, or of everybody, as one stream: the newest entry of each task that is open, then what is written, also
 * to tasks that are accepted later. Tasks are found by one query a second for all subscribers of this process; their
 * entries come from the event hub.
 */
export interface OwnerTaskFeed {
  watch(subscription: OwnedSubscription): Promise<AsyncIterableIterator<PlacedEvent>>;
  /** Ends every stream. */
  close(error: Error): void;
}

/** What to follow, and from where. */
export interface OwnedSubscription extends Beginning {
  /** Null means everybody. */
  readonly owner: string | null;
  readonly signal: AbortSignal;
  /** Whether entries have a cursor. */
  readonly isPlaced: boolean;
}

/** An entry, and where its follower is once it has it; null where that was not asked for. */
export interface PlacedEvent extends TaskEvent {
  readonly cursor: string | null;
}

export interface OwnerTaskFeedOptions {
  readonly database: MediaDatabase;
  readonly hub: EventHub;
  readonly logger: Logger;
}

interface Follower {
  readonly owner: string | null;
  readonly signal: AbortSignal;
  readonly stream: MergedStream<TaskEvent>;
  readonly places: FollowedPlaces;
}

/** Pause between two looks for new tasks. */
const POLL_INTERVAL_MS = 1_000;

/** Makes it; it asks nothing while nobody subscribes. */
export function createOwnerTaskFeed({ database, hub, logger }: OwnerTaskFeedOptions): OwnerTaskFeed {
  const followers = new Set<Follower>();
  // Thousands may come at once.
  const readOpen = batchReads({
    read: (owners) => openByOwner(database, owners),
    readId: ({ owner }) => owner,
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
    async watch({ owner, signal, isPlaced, ...beginning }) {
      const leaving = new AbortController();
      const abort = () => stream.end(null);
      const stream = createMergedStream<TaskEvent>(() => {
        signal.removeEventListener('abort', abort);
        leaving.abort();
        leave(follower);
      });
      const found = (await readOpen([owner ?? EVERYBODY])).get(owner ?? EVERYBODY)?.tasks ?? [];
      const { tasks, beganAt } = await readBeginning(database, { owner, found, ...beginning });
      const places = createFollowedPlaces(beganAt);
      const follower: Follower = { owner, signal: leaving.signal, stream, places };
      for (const { task, after } of tasks) join(hub, follower, task, after);
      if (signal.aborted) stream.end(null);
      else {
        signal.addEventListener('abort', abort, { once: true });
        followers.add(follower);
        timer ??= outsideSpans(() => setInterval(look, POLL_INTERVAL_MS));
      }
      return placed(stream.iterator, places, isPlaced);
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

async function joinNew(
  { database, hub }: Pick<OwnerTaskFeedOptions, 'database' | 'hub'>,
  followers: ReadonlySet<Follower>,
): Promise<void> {
  const found = await readOpenTasks(database, [...new Set([...followers].map(({ owner }) => owner))]);
  const byOwner = Map.groupBy(found, ({ owner }) => owner);
  for (const follower of followers) {
    const own = follower.owner === null ? found : (byOwner.get(follower.owner) ?? []);
    for (const task of own) join(hub, follower, task, 0);
    follower.places.forget(new Set(own.map(({ id }) => id)));
  }
}

/** A task is joined once, also when it was not found for a while; when too many are followed it waits until some have ended. */
function join(hub: EventHub, { places, signal, stream }: Follower, task: OwnedTask, after: number): void {
  if (!places.begin(task.id, after)) return;
  const source = hub.subscribe({ taskId: task.id, after, signal, state: task.state, lastSeq: task.lastSeq });
  stream.add(places.note(task.id, source));
}

/** The entries of a stream as they are read, each noted as read. */
function placed(
  events: Required<AsyncIterableIterator<TaskEvent>>,
  places: FollowedPlaces,
  isPlaced: boolean,
): AsyncIterableIterator<PlacedEvent> {
  const take = (result: IteratorResult<TaskEvent>): IteratorResult<PlacedEvent> => {
    if (result.done === true) return result;
    places.read(result.value);
    return { done: false, value: { ...result.value, cursor: isPlaced ? places.cursor() : null } };
  };
  return {
    next: async () => take(await events.next()),
    return: async () => take(await events.return()),
    throw: async (thrown) => take(await events.throw(thrown)),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
