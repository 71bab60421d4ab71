import { setTimeout as pause } from 'node:timers/promises';

import { AppError, toError } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import { toCallerError, type ChatFailure } from '../domain/failure.ts';
import type { ChatAccount, ChatAccounts } from './accounts.ts';
import { type ChatReply, toStoredFailure, INTERRUPTED, STOPPING, TOO_SLOW } from './chat.ts';
import { createChunkWriter } from './chunk-writer.ts';
import { completeChat, FLEX_MS, isFlex, type ChatCompletion, createSemaphores } from './complete-chat.ts';
import { messagesWithMedia } from './conversation/media-parts.ts';
import { storeReplyImages, type ReplyImageDependencies } from './reply-images.ts';
import type { ChatStore, NewReply } from './store.ts';

/** A checked conversation, and the bindings that may answer it. */
export interface PreparedChat extends Pick<ChatCompletion, 'bindings' | 'model' | 'conversation'> {
  /** Whose chat it is, and which generator was named. */
  readonly owner: string;
  readonly generator: string;
}

export interface ChatRunnerOptions extends ReplyImageDependencies {
  readonly store: ChatStore;
  readonly accounts: ChatAccounts;
  readonly bus: EventBus;
  readonly logger: Logger;
  /** Longest time one reply may take, in milliseconds. */
  readonly longestMs: number;
}

/** Most chats in this process at once, those that wait for a semaphore included. */
const MAX_RUNNING = 256;

/**
 * Runs chats: for one waiting caller, or as stored replies that go on when callers leave. Makes the runner of this
 * process; `options.longestMs` bounds every reply.
 */
export function createChatRunner(options: ChatRunnerOptions) {
  const { store, accounts, logger } = options;
  const runs = createRuns(options.longestMs);
  const semaphores = createSemaphores();
  const complete: Complete = async ({ prepared, account }, signal, onDelta) => {
    const messages = () => messagesWithMedia(options, prepared.conversation, signal);
    const onCharged: ChatCompletion['onCharged'] = (...charge) => account.charge(...charge);
    const completion = { ...prepared, semaphores, messages, signal, onDelta, onCharged };
    const { reply, images, binding } = await completeChat(completion);
    const mediaIds = await storeReplyImages(options, { images, binding, owner: prepared.owner, signal });
    return { ...reply, mediaIds };
  };
  /** What could not be accounted for does not fail the reply, which was paid for. */
  const close = (account: ChatAccount): Promise<void> =>
    account.close().catch((thrown: unknown) => {
      logger.error({ error: toError(thrown) }, 'the cost of a chat could not be stored');
    });
  return {
    /** Answers a caller who waits; ends when the caller hangs up. */
    once(prepared: PreparedChat, signal: AbortSignal): Promise<ChatReply> {
      runs.checkRoom();
      return runs.track(prepared, async (signals) => {
        const ends = AbortSignal.any([signal, signals.closing, signals.late]);
        const account = await accounts.open(prepared);
        try {
          return await complete({ prepared, account }, ends, () => {});
        } catch (thrown) {
          const failure = toChatFailure(thrown, signals);
          throw signal.aborted || failure.code === 'INTERNAL' ? thrown : toCallerError(failure);
        } finally {
          await close(account);
        }
      });
    },
    /** Stores the reply as running and completes it in the background; its id, or null when the key is taken. */
    async begin(entry: NewReply, prepared: PreparedChat): Promise<string | null> {
      runs.checkRoom();
      const account = await accounts.open(prepared);
      const id = await store.begin(entry);
      if (id === null) {
        await close(account);
        return null;
      }
      // A reply whose failure could not be stored is found stale by its readers.
      runs
        .track(prepared, (signals) => record({ ...options, id, prepared, account, complete }, signals))
        .catch((thrown: unknown) =>
          logger.error({ error: toError(thrown), id }, 'a reply could not be stored'),
        );
      return id;
    },
    /** Begins none any more, and resolves when none runs, at the latest after so long. */
    async finish(graceSeconds: number): Promise<void> {
      const chats = runs.size();
      if (chats > 0) logger.info({ chats, graceSeconds }, 'finishing chats that nobody else can take up');
      await runs.finish(graceSeconds);
    },
    /** Ends all of them; stored ones end as failed. */
    close: (): Promise<void> => runs.close(),
  };
}

type Complete = (
  chat: { readonly prepared: PreparedChat; readonly account: ChatAccount },
  signal: AbortSignal,
  onDelta: (delta: string) => void,
) => Promise<ChatReply>;

interface Signals {
  readonly closing: AbortSignal;
  readonly late: AbortSignal;
}

/** The chats that run in this process, with the signals that end them. */
function createRuns(longestMs: number) {
  const closing = new AbortController();
  let isFinishing = false;
  const running = new Set<Promise<unknown>>();
  return {
    checkRoom(): void {
      if (isFinishing || closing.signal.aborted) throw toCallerError(STOPPING);
      if (running.size < MAX_RUNNING) return;
      throw new AppError('QUEUE_FULL', 'too many chats are running; try again later', { retryAfter: 5 });
    },
    track<Result>(
      { conversation }: Pick<PreparedChat, 'conversation'>,
      work: (signals: Signals) => Promise<Result>,
    ): Promise<Result> {
      const isSlow = isFlex(conversation.options.vendorOptions);
      const late = AbortSignal.timeout(isSlow ? Math.max(FLEX_MS, longestMs) : longestMs);
      const signals = { closing: closing.signal, late };
      const promise = work(signals).finally(() => running.delete(promise));
      running.add(promise);
      return promise;
    },
    size: () => running.size,
    async finish(graceSeconds: number): Promise<void> {
      isFinishing = true;
      const over = new AbortController();
      const late = pause(graceSeconds * 1_000, undefined, { signal: over.signal }).catch(() => undefined);
      await Promise.race([late, Promise.allSettled(running)]);
      over.abort();
    },
    async close(): Promise<void> {
      closing.abort(new Error('the server stops'));
      await Promise.allSettled(running);
    },
  };
}

interface Recording extends ChatRunnerOptions {
  readonly id: string;
  readonly prepared: PreparedChat;
  readonly account: ChatAccount;
  readonly complete: Complete;
}

/** Completes a chat and stores it chunk by chunk, then its end. */
async function record(options: Recording, signals: Signals): Promise<void> {
  const { id, prepared, account, complete, store, logger } = options;
  const lost = new AbortController();
  const signal = AbortSignal.any([signals.closing, signals.late, lost.signal]);
  const writer = createChunkWriter({ ...options, onLost: (reason) => lost.abort(reason) });
  try {
    const { text: _, ...reply } = await complete({ prepared, account }, signal, (delta) => writer.add(delta));
    await writer.finish();
    await account.close((transaction) => store.end(transaction, id, { reply }));
  } catch (thrown) {
    if (lost.signal.aborted) {
      logger.warn({ error: toError(lost.signal.reason), id }, 'a reply was taken over by another process');
      await account.close();
      return;
    }
    const error = toChatFailure(thrown, signals);
    if (error.code === 'INTERNAL') logger.error({ error: toError(thrown), id }, 'a reply failed');
    await writer.finish();
    await account.close((transaction) => store.end(transaction, id, { error }));
  } finally {
    writer.close();
  }
}

function toChatFailure(thrown: unknown, { closing, late }: Signals): ChatFailure {
  if (closing.aborted) return INTERRUPTED;
  return late.aborted ? TOO_SLOW : toStoredFailure(thrown);
}
