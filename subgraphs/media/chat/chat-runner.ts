import { AppError, toError } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import { callersError } from '../domain/callers-error.ts';
import type { ChatFailure } from '../domain/failure.ts';
import type { ChatReply } from './chat.ts';
import { createRecorder } from './chunk-writer.ts';
import { converse, type Converse } from './complete-chat.ts';
import { failureOf, INTERRUPTED, TOO_SLOW } from './failures.ts';
import { messagesWithMedia, type MediaPartDependencies } from './media-parts.ts';
import { createPlaces } from './semaphore.ts';
import type { ChatStore, KeptUnder } from './store.ts';

/** A conversation that was checked, and who may have it. */
export type Ready = Pick<Converse, 'bindings' | 'model' | 'conversation'>;

/** Has conversations: for one caller, or as a kept reply that goes on whoever leaves. */
export interface Maker {
  /** Has it for a caller who waits; ends with them. */
  once(ready: Ready, signal: AbortSignal): Promise<ChatReply>;
  /** Writes down that the reply is being made and makes it in the background; its id, or null when the key is taken. */
  begin(entry: KeptUnder, ready: Ready): Promise<string | null>;
  /** Ends all of them; kept ones say so. */
  close(): Promise<void>;
}

export interface MakerOptions extends MediaPartDependencies {
  readonly store: ChatStore;
  readonly bus: EventBus;
  readonly logger: Logger;
  /** Longest time one reply may take, in milliseconds (default 10 minutes). */
  readonly longestMs?: number;
}

const LONGEST_MS = 10 * 60_000;
/** Most replies that are being made in this process at once; waiting for a place counts. */
const MAX_RUNNING = 256;

/** Makes the maker; `options.longestMs` bounds every reply. */
export function createMaker(options: MakerOptions): Maker {
  const { store, logger } = options;
  const runs = createRuns(options.longestMs ?? LONGEST_MS);
  const places = createPlaces();
  const have: Have = (ready, signal, onDelta) => {
    const messages = () => messagesWithMedia(options, ready.conversation, signal);
    return converse({ ...ready, places, messages, signal, onDelta });
  };
  return {
    once(ready, signal) {
      runs.checkRoom();
      return runs.track(async (signals) => {
        const ends = AbortSignal.any([signal, signals.closing, signals.late]);
        try {
          return await have(ready, ends, () => {});
        } catch (thrown) {
          const failure = endOf(thrown, signals);
          throw signal.aborted || failure.code === 'INTERNAL' ? thrown : callersError(failure);
        }
      });
    },
    async begin(entry, ready) {
      runs.checkRoom();
      const id = await store.begin(entry);
      if (id === null) return null;
      // What could not even be written as a failure is found stale by whoever asks for it.
      runs
        .track((signals) => record({ ...options, id, ready, have }, signals))
        .catch((thrown: unknown) =>
          logger.error({ error: toError(thrown), id }, 'a reply could not be kept'),
        );
      return id;
    },
    close: () => runs.close(),
  };
}

type Have = (ready: Ready, signal: AbortSignal, onDelta: (delta: string) => void) => Promise<ChatReply>;

interface Signals {
  readonly closing: AbortSignal;
  readonly late: AbortSignal;
}

/** What runs in this process: counted, and given what ends it. */
function createRuns(longestMs: number) {
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  return {
    checkRoom(): void {
      if (closing.signal.aborted) throw callersError(INTERRUPTED);
      if (running.size < MAX_RUNNING) return;
      throw new AppError('QUEUE_FULL', 'too many replies are being made; try again later', { retryAfter: 5 });
    },
    track<Result>(work: (signals: Signals) => Promise<Result>): Promise<Result> {
      const signals = { closing: closing.signal, late: AbortSignal.timeout(longestMs) };
      const promise = work(signals).finally(() => running.delete(promise));
      running.add(promise);
      return promise;
    },
    async close(): Promise<void> {
      closing.abort(new Error('the server stops'));
      await Promise.allSettled(running);
    },
  };
}

interface Recording extends MakerOptions {
  readonly id: string;
  readonly ready: Ready;
  readonly have: Have;
}

/** Has a conversation and writes it down: piece by piece, then its end, whatever that is. */
async function record(options: Recording, signals: Signals): Promise<void> {
  const { id, ready, have, store, logger } = options;
  const lost = new AbortController();
  const signal = AbortSignal.any([signals.closing, signals.late, lost.signal]);
  const recorder = createRecorder({ ...options, onLost: (reason) => lost.abort(reason) });
  try {
    const { text: _, ...reply } = await have(ready, signal, recorder.add);
    await recorder.finish();
    await store.end(id, { reply });
  } catch (thrown) {
    if (lost.signal.aborted) {
      logger.warn({ error: toError(lost.signal.reason), id }, 'a reply was left to others');
      return;
    }
    const error = endOf(thrown, signals);
    if (error.code === 'INTERNAL') logger.error({ error: toError(thrown), id }, 'a reply failed');
    await recorder.finish();
    await store.end(id, { error });
  } finally {
    recorder.close();
  }
}

function endOf(thrown: unknown, { closing, late }: Signals): ChatFailure {
  if (closing.aborted) return INTERRUPTED;
  return late.aborted ? TOO_SLOW : failureOf(thrown);
}
