import type { Caller } from '../../../platform/access/caller.ts';
import type { ChatFailure } from '../domain/failure.ts';

/**
 * Talking with a language model: no task, but an answer, at once or word by word. With an idempotency key the answer is
 * kept for a day, as rows: whoever comes again with the key, at any process, gets the same words from the start and
 * then the live ones, and nothing is paid twice. Implemented by createChatService (service.ts).
 */
export interface ChatService {
  /** The whole reply. Without a key nothing is kept, and a caller who hangs up ends the call. */
  chat(
    caller: Caller,
    input: ChatInput,
    options: { readonly idempotencyKey: string | null; readonly signal: AbortSignal },
  ): Promise<ChatReply>;
  /**
   * The reply in pieces as they come; the last one carries the whole reply, or why there is none. A caller who hangs up
   * does not end the call upstream. Refusals are thrown before the first piece.
   */
  stream(
    caller: Caller,
    input: ChatInput,
    options: {
      readonly idempotencyKey: string;
      /** Pieces with a greater seq are wanted; absent means all of them. */
      readonly afterSeq?: number;
      readonly signal: AbortSignal;
    },
  ): Promise<AsyncIterableIterator<ChatChunk>>;
  /** Ends what runs here; its kept replies say so. */
  close(): Promise<void>;
}

/** What is asked of a language model. */
export interface ChatInput {
  readonly generator: string;
  readonly model?: string | null | undefined;
  /** [{ role, content }], content a text or parts (messages.ts). */
  readonly messages: unknown;
  readonly system?: string | null | undefined;
  readonly temperature?: number | null | undefined;
  readonly maxTokens?: number | null | undefined;
}

/** What it said. */
export interface ChatReply {
  readonly text: string;
  readonly model: string;
  /** The upstream wire it came over. */
  readonly provider: string;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

/** A piece of a reply that is still being made. */
export interface ChatChunk {
  /** From 1: the same count as index, as numbered streams have it. */
  readonly seq: number;
  /** From 0, without gaps. */
  readonly index: number;
  /** What follows the pieces before; empty in the last one. */
  readonly delta: string;
  /** The whole reply, whose text is all deltas in order; in the last piece only. */
  readonly reply: ChatReply | null;
  /** Why there is no whole reply; in the last piece only. */
  readonly error: ChatFailure | null;
}
