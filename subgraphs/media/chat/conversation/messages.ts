import { badInput } from '../../../../platform/errors.ts';
import type { JsonObject } from '../../../../platform/json.ts';
import type { ChatOptions } from '../../domain/chat-options.ts';

/** A conversation as it is sent, but for the media parts whose bytes are still to be fetched. */
export interface Conversation {
  readonly messages: readonly Message[];
  readonly system: string | null;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly options: ChatOptions;
}

/** One checked message. */
export interface Message {
  readonly role: string;
  readonly content: string | readonly Part[];
  /** Tool calls of an answer, or the call that this is the result of; in OpenAI's format. */
  readonly calls: MessageCalls;
}

/** What links messages to tool calls. */
export interface MessageCalls {
  readonly tool_calls?: readonly JsonObject[];
  readonly tool_call_id?: string;
}

/** A part in OpenAI's format, or a file that becomes one. */
export type Part = { readonly plain: JsonObject } | MediaPart;

/** What a file in a message is; the names of the inputs of models. */
export type MediaKind = 'image' | 'audio' | 'video';

/** An image, a video or a recording within a message. */
export interface MediaPart {
  /** The field as the caller wrote it. */
  readonly field: string;
  readonly media: { readonly url: string } | { readonly fileId: string };
  /** What the caller says that it is; absent where the file tells. */
  readonly kind?: MediaKind;
}

/** Roles of messages. */
export const ROLES = ['system', 'user', 'assistant', 'tool'];

/** A call of a tool as a message carries it. */
export interface WrittenCall {
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it. */
  readonly arguments: string;
}

/** Throws BAD_USER_INPUT when a message has tool calls, or the id of one, that its role can't have. */
export function checkCalls(
  role: string,
  { calls, id }: { readonly calls: readonly WrittenCall[] | null; readonly id: string | null },
  field: string,
): MessageCalls {
  if (calls !== null && calls.length > 0 && role !== 'assistant') {
    throw badInput(field, `${field} has tool calls, which only an answer of the assistant has`);
  }
  if ((role === 'tool') !== (id !== null)) {
    const problem =
      role === 'tool' ? 'needs the id of the tool call that it answers' : 'answers no tool call';
    throw badInput(field, `${field}, of the role ${role}, ${problem}`);
  }
  if (id !== null) return { tool_call_id: id };
  if (calls === null || calls.length === 0) return {};
  const tool_calls = calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));
  return { tool_calls };
}

/** How long a conversation is: system, all texts, calls and tools. */
export function countCharacters({
  messages,
  system,
  options,
}: Pick<Conversation, 'messages' | 'system' | 'options'>): number {
  const texts = messages.flatMap(({ content, calls: { tool_calls: calls = [] } }) => [
    ...(typeof content === 'string' ? [content] : plainParts(content).map(({ text }) => text)),
    ...(calls.length > 0 ? [JSON.stringify(calls)] : []),
  ]);
  const { tools, responseFormat } = options;
  const schemas =
    tools.length > 0 || responseFormat !== null ? [JSON.stringify([tools, responseFormat])] : [];
  return [system, ...texts, ...schemas].reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? text.length : 0),
    0,
  );
}

/** The parts that are whole already. */
export function plainParts(parts: readonly Part[]): readonly JsonObject[] {
  return parts.flatMap((part) => ('plain' in part ? [part.plain] : []));
}

/** What kinds of media the parts are, as far as that is known without their bytes. */
export function listMediaKinds(parts: readonly Part[]): readonly MediaKind[] {
  return parts.flatMap((part) => {
    if ('media' in part) return part.kind === undefined ? [] : [part.kind];
    const kind = Object.entries(KINDS).find(([type]) => type === part.plain['type'])?.[1];
    return kind === undefined ? [] : [kind];
  });
}

/** The media of OpenAI's types of parts. */
export const KINDS: Readonly<Record<string, MediaKind>> = {
  image_url: 'image',
  video_url: 'video',
  input_audio: 'audio',
};
