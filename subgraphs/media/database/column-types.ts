import type { JsonObject } from '../../../platform/json.ts';
import type { ChatToolCall } from '../domain/chat-options.ts';
import type { StepInput, Work } from '../domain/work/work.ts';

/** What columns hold where PostgreSQL's own type says less (schema/tables.ts names the columns). */

/** The work of a task, as it was submitted. */
export type StoredWork = Work & JsonObject;

/** The work of a step. */
export type StoredStepInput = StepInput & JsonObject;

/** What the upstream finished with, while it is being stored; addresses are without credentials. */
export interface FinishedWork {
  readonly urls: readonly string[];
  readonly texts: readonly string[];
  readonly facts: JsonObject;
}

/** Media ids of the files of a step that are stored so far, by position. */
export type StoredFiles = Readonly<Record<string, string>>;

/** INCOMING: its bytes are being stored. DELETED: its bytes are being removed. Only STORED ones are ever shown. */
export type MediaState = 'INCOMING' | 'STORED' | 'DELETED';

/** The state of a stored chat reply. */
export type ReplyState = 'RUNNING' | 'SUCCEEDED' | 'FAILED';

/** Who wrote a message of a kept conversation. */
export type MessageRole = 'USER' | 'ASSISTANT';

/** Tool calls of a stored chat reply. */
export type StoredToolCalls = readonly ChatToolCall[];

/** PENDING is queued, being sent, or waiting for its next attempt; GIVEN_UP is over without success. */
export type DeliveryState = 'PENDING' | 'DELIVERED' | 'GIVEN_UP';

/** An event as it is delivered, but for those of tasks, whose files have addresses that expire. */
export interface StoredEvent {
  /** As `budget.warning`. */
  readonly type: string;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly data: JsonObject;
  /** Of events in OpenAI's words: their id, `event`, and seconds since 1970. */
  readonly id?: string;
  readonly object?: 'event';
  readonly created_at?: number;
}
