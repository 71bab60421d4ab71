import type { Json } from '../../../../platform/json.ts';
import type { ReasoningEffort } from '../../domain/chat-options.ts';

/** A request to a language model, as callers make it. */
export interface ChatInput {
  readonly generator: string;
  readonly model?: string | null | undefined;
  /** One of conversation and messages. */
  readonly conversation?: readonly ChatMessageInput[] | null | undefined;
  /** In OpenAI's format: [{ role, content }], content a text or parts (messages.ts). */
  readonly messages?: unknown;
  readonly system?: string | null | undefined;
  readonly temperature?: number | null | undefined;
  readonly maxTokens?: number | null | undefined;
  readonly tools?: readonly ChatToolInput[] | null | undefined;
  /** `auto`, `none`, `required`, or the name of a tool. */
  readonly toolChoice?: string | null | undefined;
  readonly responseFormat?: ChatFormatInput | null | undefined;
  readonly reasoningEffort?: ReasoningEffort | null | undefined;
  /** An object: the names of the model's vendor, and values. */
  readonly options?: unknown;
}

/** One message: one of text and parts, and tool calls or the id of one. */
export interface ChatMessageInput {
  readonly role: 'SYSTEM' | 'USER' | 'ASSISTANT' | 'TOOL';
  readonly text?: string | null | undefined;
  readonly parts?: readonly ChatPartInput[] | null | undefined;
  readonly toolCalls?: readonly ToolCallInput[] | null | undefined;
  readonly toolCallId?: string | null | undefined;
}

interface ToolCallInput {
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
}

/** One of text, url and fileId. */
export interface ChatPartInput {
  readonly text?: string | null | undefined;
  readonly url?: string | null | undefined;
  readonly fileId?: string | number | null | undefined;
}

/** A tool that the model may call. */
export interface ChatToolInput {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly parameters?: unknown;
  readonly strict?: boolean | null | undefined;
}

/** What the text of the answer must be. */
export interface ChatFormatInput {
  readonly type: 'TEXT' | 'JSON_OBJECT' | 'JSON_SCHEMA';
  readonly name?: string | null | undefined;
  readonly schema?: unknown;
  readonly strict?: boolean | null | undefined;
}
