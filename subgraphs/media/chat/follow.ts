import { AppError } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { ChatChunk } from './chat.ts';
import { CHAT_TOPIC } from './chunk-writer.ts';
import { INTERRUPTED } from './failures.ts';
import type { ChatStore, KeptReply } from './store.ts';

/**
 * A kept reply from its first piece on, then live, whoever makes it: what is handed out comes from rows only, so a lost
 * wake-up costs a tick and nothing else. The last piece carries the reply, or why there is none.
 */
export interface FollowOptions {
  readonly id: string;
  readonly store: ChatStore;
  readonly bus: EventBus;
  readonly signal: AbortSignal;
  /** Pieces with a greater seq are wanted (default 0, all of them). */
  readonly afterSeq?: number;
}

/** Most pieces in one read. */
const PAGE = 200;
/** Milliseconds until rows are looked at without a wake-up. */
const TICK_MS = 1_000;

/** Ends without a last piece when the signal is aborted; `return` ends it at once, even while it waits. */
export function follow(options: FollowOptions): AsyncIterableIterator<ChatChunk> {
  const leaving = new AbortController();
  const signal = AbortSignal.any([options.signal, leaving.signal]);
  const chunks = chunksOf({ ...options, signal });
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

async function* chunksOf({
  id,
  store,
  bus,
  signal,
  afterSeq = 0,
}: FollowOptions): AsyncGenerator<ChatChunk, undefined> {
  const bell = createBell(bus, id);
  const said: string[] = [];
  try {
    while (!signal.aborted) {
      // The reply first: what it counts is there to be read.
      const kept = await store.byId(id);
      if (kept === null) throw new AppError('NOT_FOUND', 'this reply is kept no longer');
      for (const delta of await store.chunks(id, said.length, PAGE)) {
        said.push(delta);
        const chunk = { seq: said.length, index: said.length - 1, delta, reply: null, error: null };
        if (chunk.seq > afterSeq) yield chunk;
      }
      if (said.length < kept.chunks) continue;
      if (kept.state !== 'RUNNING') {
        const last = lastOf(kept, said);
        if (last.seq > afterSeq) yield last;
        return undefined;
      }
      if (kept.isStale) await store.giveUp(id, INTERRUPTED);
      else await bell.rung(signal);
    }
    return undefined;
  } finally {
    bell.remove();
  }
}

function lastOf({ reply, error }: KeptReply, said: readonly string[]): ChatChunk {
  const last = { seq: said.length + 1, index: said.length, delta: '' };
  return reply === null
    ? { ...last, reply, error: error ?? INTERRUPTED }
    : { ...last, reply: { text: said.join(''), ...reply }, error: null };
}

/** Wake-ups of one reply. One that comes between two waits is not lost. */
function createBell(bus: EventBus, id: string) {
  let hasRung = false;
  let wake: (() => void) | null = null;
  const ring = (): void => {
    hasRung = true;
    wake?.();
  };
  const removals = [bus.listen(CHAT_TOPIC, (key) => void (key === id && ring())), bus.onGap(ring)];
  return {
    /** Resolves at the next wake-up, at the next tick, or when the signal is aborted. */
    async rung(signal: AbortSignal): Promise<void> {
      if (!hasRung && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(ring, TICK_MS);
          signal.addEventListener('abort', ring, { once: true });
          wake = () => {
            wake = null;
            clearTimeout(timer);
            signal.removeEventListener('abort', ring);
            resolve();
          };
        });
      }
      hasRung = false;
    },
    remove(): void {
      for (const remove of removals) remove();
    },
  };
}
