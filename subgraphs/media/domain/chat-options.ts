import type { Json, JsonObject } from '../../../platform/json.ts';

/** What a chat may be asked for besides its text: tools of the caller's, the form of the answer, how much is thought. */
export interface ChatOptions {
  /** Tools that the model may call; none when empty. */
  readonly tools: readonly ChatTool[];
  /** `auto`, `none`, `required`, or the name of the one that must be called; null leaves it to the model. */
  readonly toolChoice: string | null;
  readonly responseFormat: ChatFormat | null;
  readonly reasoningEffort: ReasoningEffort | null;
  /** What the model takes besides, by the names of its vendor. */
  readonly vendorOptions: JsonObject | null;
}

/** A tool of the caller's: the model answers with a call of it, and the caller sends back what it gave. */
export interface ChatTool {
  readonly name: string;
  readonly description: string | null;
  /** JSON Schema of its arguments. */
  readonly parameters: JsonObject | null;
  /** Whether arguments must fit the schema exactly, where the wire has that. */
  readonly strict: boolean | null;
}

/** A call of a tool that the model asks for. */
export interface ChatToolCall {
  /** Named by the message that brings the result. */
  readonly id: string;
  readonly name: string;
  /** What the model wrote, parsed; a text when it wrote no JSON. */
  readonly arguments: Json;
}

/** The form of an answer: any JSON object, or JSON by a schema. */
export type ChatFormat =
  | { readonly type: 'JSON_OBJECT' }
  | {
      readonly type: 'JSON_SCHEMA';
      readonly name: string;
      readonly schema: Json;
      readonly strict: boolean | null;
    };

/** How much a model thinks before it answers, from the least on. */
export type ReasoningEffort = 'NONE' | 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH' | 'XHIGH';

/** Arguments as a model wrote them. */
export function parsedArguments(text: string): Json {
  try {
    return JSON.parse(text === '' ? '{}' : text) as Json;
  } catch {
    return text;
  }
}
