import type { Caller } from '../../../platform/access/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import type { ChatToolCall } from '../domain/chat-options.ts';
import { type ChatFailure, UpstreamError, toFailure as upstreamFailure } from '../domain/failure.ts';
import { storageFailure } from '../result-files/store-result-file.ts';
import type { ChatInput } from './conversation/input.ts';
import { UnstoredImage } from './reply-images.ts';

/**
 * Chat with a language model: a reply without a task, whole or streamed. With an idempotency key the reply is stored for
 * a day: a request with the same key, at any process, gets the stored chunks and then the live ones, and nothing is paid
 * twice. Implemented by createChatService (service.ts).
 */
export interface ChatService {
  /** The whole reply. Without a key nothing is stored, and a caller who hangs up ends the call. */
  chat(
    caller: Caller,
    input: ChatInput,
    options: JoinOptions & { readonly idempotencyKey: string | null; readonly signal: AbortSignal },
  ): Promise<ChatReply>;
  /**
   * The reply in chunks as they come; the last one carries the whole reply, or why there is none. A caller who hangs up
   * does not end the call upstream. Refusals are thrown before the first chunk.
   */
  stream(
    caller: Caller,
    input: ChatInput,
    options: JoinOptions & {
      readonly idempotencyKey: string;
      /** Only chunks with a greater seq; absent means all of them. */
      readonly afterSeq?: number;
      readonly signal: AbortSignal;
    },
  ): Promise<AsyncIterableIterator<ChatChunk>>;
  /** Begins nothing more, and resolves when nothing runs here any more, at the latest after so long. */
  finish(graceSeconds: number): Promise<void>;
  /** Ends what runs here; its stored replies end as failed. */
  close(): Promise<void>;
}

/** When a reply under the same key is answered. */
export interface JoinOptions {
  /**
   * Seconds from its beginning in which a reply that is being made is answered, or for a minute one that all its callers
   * have left; absent: any reply under the key.
   */
  readonly joinSeconds?: number | null | undefined;
}

/** The whole reply. */
export interface ChatReply {
  readonly text: string;
  /** Tools to be called before the model can go on; their results are sent with the next request. */
  readonly toolCalls: readonly ChatToolCall[];
  /** Files of its owner: the images that the model made, in order. */
  readonly mediaIds: readonly string[];
  readonly model: string;
  /** The upstream wire it came over. */
  readonly provider: string;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

/** A chunk of a reply that may still be running. */
export interface ChatChunk {
  /** From 1: index + 1, the number to resume after. */
  readonly seq: number;
  /** From 0, without gaps. */
  readonly index: number;
  /** What follows the chunks before; empty in the last one. */
  readonly delta: string;
  /** The whole reply, whose text is all deltas in order; in the last chunk only. */
  readonly reply: ChatReply | null;
  /** Why there is no whole reply; in the last chunk only. */
  readonly error: ChatFailure | null;
}

/** Why replies fail, as it is stored and shown. */

/** This process stops, and begins no reply. */
export const STOPPING: ChatFailure = {
  code: 'UNAVAILABLE',
  message: 'the server stops; ask again',
  retryable: true,
};

/** The process that made a reply ended in the middle of it. Its provider gives no reply out twice, and may charge for each. */
export const INTERRUPTED: ChatFailure = {
  code: 'START_UNKNOWN',
  message:
    'the server stopped while this reply was being made, which may have been paid for; ask again with a new idempotencyKey',
  retryable: false,
};

/** It took longer than a reply may take. */
export const TOO_SLOW: ChatFailure = {
  code: 'TIMED_OUT',
  message: 'the reply took too long and was broken off; ask again with a new idempotencyKey',
  retryable: true,
};

/** The stored failure of an error. Unknown errors are masked. */
export function toStoredFailure(thrown: unknown): ChatFailure {
  if (thrown instanceof UpstreamError) {
    const { retryAfter } = thrown;
    return { ...upstreamFailure(thrown), ...(retryAfter === undefined ? {} : { retryAfter }) };
  }
  // An input that turned out to be unusable while its bytes were fetched.
  if (thrown instanceof AppError && thrown.code === 'BAD_USER_INPUT') {
    const { message, field } = thrown;
    return { code: 'INVALID_INPUT', message, retryable: false, ...(field === undefined ? {} : { field }) };
  }
  if (thrown instanceof UnstoredImage) return storageFailure(thrown.cause);
  return { code: 'INTERNAL', message: 'something went wrong on our side', retryable: false };
}
