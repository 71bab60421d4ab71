import { AppError, toError } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import { type ChatChunk, INTERRUPTED } from './chat.ts';
import { CHAT_TOPIC } from './chunk-writer.ts';
import type { ChatStore, StoredReply } from './store.ts';

/**
 * Streams a stored reply from its first chunk on, then live, from any process. Chunks come from rows only, so a lost
 * wake-up costs no more than a tick. The last chunk carries the reply, or why there is none.
 */
export interface FollowOptions {
  readonly id: string;
  readonly store: ChatStore;
  readonly bus: EventBus;
  readonly signal: AbortSignal;
  /** Only chunks with a greater seq (default 0, all of them). */
  readonly afterSeq?: number;
  readonly presence: Presence;
}

/** Most chunks in one read. */
const PAGE = 200;
/** Milliseconds until rows are read without a wake-up. */
const TICK_MS = 1_000;

/** Ends without a last chunk when the signal is aborted; `return` ends it at once, even while it waits. */
export function follow(options: FollowOptions): AsyncIterableIterator<ChatChunk> {
  const leaving = new AbortController();
  const signal = AbortSignal.any([options.signal, leaving.signal]);
  const chunks = readChunks({ ...options, signal });
  return {
    next: () => chunks.next(),
    return: () => {
      leaving.abort();
      return chunks.return(undefined);
    },
    throw: (error: Error) => {
      leaving.abort();
      return chunks.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* readChunks({
  id,
  store,
  bus,
  signal,
  afterSeq = 0,
  presence,
}: FollowOptions): AsyncGenerator<ChatChunk, undefined> {
  const notifier = createNotifier(bus, id);
  const deltas: string[] = [];
  const leave = presence.enter(id);
  let hasEnded = false;
  try {
    while (!signal.aborted) {
      // The reply first: the chunks that it counts are there to be read.
      const stored = await store.byId(id);
      if (stored === null) throw new AppError('NOT_FOUND', 'this reply is no longer stored');
      for (const delta of await store.chunks(id, deltas.length, PAGE)) {
        deltas.push(delta);
        const chunk = { seq: deltas.length, index: deltas.length - 1, delta, reply: null, error: null };
        if (chunk.seq > afterSeq) yield chunk;
      }
      if (deltas.length < stored.chunks) continue;
      if (stored.state !== 'RUNNING') {
        hasEnded = true;
        const last = createLastChunk(stored, deltas);
        if (last.seq > afterSeq) yield last;
        return undefined;
      }
      if (stored.isStale) await store.giveUp(id, INTERRUPTED);
      else await notifier.notified(signal);
    }
    return undefined;
  } finally {
    notifier.remove();
    leave(hasEnded);
  }
}

function createLastChunk({ reply, error }: StoredReply, deltas: readonly string[]): ChatChunk {
  const last = { seq: deltas.length + 1, index: deltas.length, delta: '' };
  return reply === null
    ? { ...last, reply, error: error ?? INTERRUPTED }
    : { ...last, reply: { text: deltas.join(''), ...reply }, error: null };
}

/** Wake-ups of one reply. One that comes between two waits is not lost. */
function createNotifier(bus: EventBus, id: string) {
  let wasNotified = false;
  let wake: (() => void) | null = null;
  const notify = (): void => {
    wasNotified = true;
    wake?.();
  };
  const removals = [bus.listen(CHAT_TOPIC, (key) => void (key === id && notify())), bus.onGap(notify)];
  return {
    /** Resolves at the next wake-up, at the next tick, or when the signal is aborted. */
    async notified(signal: AbortSignal): Promise<void> {
      if (!wasNotified && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(notify, TICK_MS);
          signal.addEventListener('abort', notify, { once: true });
          wake = () => {
            wake = null;
            clearTimeout(timer);
            signal.removeEventListener('abort', notify);
            resolve();
          };
        });
      }
      wasNotified = false;
    },
    remove(): void {
      for (const remove of removals) remove();
    },
  };
}

/** Who follows stored replies in this process, so that a reply that nobody waits for any more is known as such. */
type Presence = ReturnType<typeof createPresence>;

/** Makes the counts. The last follower who leaves a running reply marks it: the same request again joins it. */
export function createPresence({
  store,
  logger,
}: {
  readonly store: Pick<ChatStore, 'noteLeft'>;
  readonly logger: Logger;
}) {
  const followers = new Map<string, number>();
  return {
    /** Counts a follower; the function that it leaves by is told whether the reply had ended. */
    enter(id: string): (hasEnded: boolean) => void {
      followers.set(id, (followers.get(id) ?? 0) + 1);
      return (hasEnded) => {
        const others = (followers.get(id) ?? 1) - 1;
        if (others > 0) {
          followers.set(id, others);
          return;
        }
        followers.delete(id);
        if (hasEnded) return;
        // Without the mark the same request makes a reply of its own, as any first try does.
        store.noteLeft(id, true).catch((thrown: unknown) => {
          logger.debug({ error: toError(thrown), id }, 'a reply could not be marked as left');
        });
      };
    },
  };
}
