import type { Generated, JSONColumnType } from 'kysely';

import type { ChatFailure } from '../domain/failure.ts';

/** A reply stored under an idempotency key (migrations/0005-chat.ts). */
interface ChatReplyTable {
  readonly id: string;
  readonly owner: string;
  /** Hashed. */
  readonly key: string;
  readonly fingerprint: string;
  readonly state: Generated<'RUNNING' | 'SUCCEEDED' | 'FAILED'>;
  /** How many pieces are written. */
  readonly chunks: Generated<number>;
  readonly model: string | null;
  readonly provider: string | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly error: JSONColumnType<ChatFailure> | null;
  /** When the process that makes it last gave a sign of life. */
  readonly alive_at: Generated<Date>;
  readonly created_at: Generated<Date>;
  readonly ended_at: Date | null;
}

/** A piece of a reply. */
interface ChatChunkTable {
  readonly reply_id: string;
  /** From 0, without gaps. */
  readonly position: number;
  readonly delta: string;
}

/** The tables chat/ reads and writes. */
export interface ChatTables {
  readonly 'media.chat_replies': ChatReplyTable;
  readonly 'media.chat_chunks': ChatChunkTable;
}
