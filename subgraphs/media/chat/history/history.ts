import type { Caller } from '../../../../platform/access/caller.ts';
import type { Json } from '../../../../platform/json.ts';

/** Conversations that callers keep. Implemented by createChatHistory (service.ts). */
export interface ChatHistory {
  /** NOT_FOUND for those of others; nobody's is read by its id, which is in no list. */
  read(caller: Caller, id: string): Promise<Conversation>;
  /** All messages of one, in the order in which they were added. */
  messages(caller: Caller, id: string): Promise<readonly KeptMessage[]>;
  /** The caller's own, the last changed first; without a caller only those of nobody's whose ids are given. */
  list(caller: Caller, search: ConversationSearch): Promise<readonly Conversation[]>;
  /**
   * Makes one under an id of the caller's, or changes it; messages with known ids are replaced, the others added.
   * BAD_USER_INPUT names the field, NOT_FOUND is for those of others.
   */
  save(caller: Caller, id: string, draft: ConversationDraft): Promise<Conversation>;
  /** Deletes one with its messages, and answers what it was. */
  remove(caller: Caller, id: string): Promise<Conversation>;
}

/** A conversation without its messages. */
export interface Conversation {
  readonly id: string;
  readonly owner: string;
  readonly title: string;
  readonly generator: string;
  readonly model: string | null;
  readonly settings: ConversationSettings;
  /** The last message of the branch that is shown. */
  readonly currentId: string | null;
  /** Grows with every change. */
  readonly revision: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What is sent with each of its questions. */
interface ConversationSettings {
  readonly system?: string | null | undefined;
  readonly temperature?: number | null | undefined;
  readonly maxTokens?: number | null | undefined;
  /** An object. */
  readonly options?: Json | null | undefined;
}

/** A message; those with the same parent are branches. */
export interface KeptMessage {
  readonly id: string;
  readonly parentId: string | null;
  readonly role: 'USER' | 'ASSISTANT';
  readonly text: string;
  readonly mediaIds: readonly string[];
  /** Who wrote it, for answers. */
  readonly model: string | null;
  readonly createdAt: Date;
}

/** A message as it is saved. */
export interface MessageDraft {
  readonly id: string;
  readonly parentId?: string | null | undefined;
  readonly role: 'USER' | 'ASSISTANT';
  readonly text: string;
  readonly mediaIds?: readonly string[] | null | undefined;
  readonly model?: string | null | undefined;
}

/** What is saved. */
export interface ConversationDraft extends ConversationSettings {
  readonly title: string;
  readonly generator: string;
  readonly model?: string | null | undefined;
  readonly currentId?: string | null | undefined;
  readonly messages?: readonly MessageDraft[] | null | undefined;
}

/** Which conversations are listed. */
export interface ConversationSearch {
  /** Only those with this text in their name or in a message, in any case. */
  readonly text?: string | null | undefined;
  /** Only these. */
  readonly ids?: readonly string[] | null | undefined;
  readonly first: number;
  /** The revision of the last one that was seen. */
  readonly after?: string | null | undefined;
}
