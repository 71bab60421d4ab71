import { badInput } from '../../../../platform/errors.ts';
import { isObject, type Json } from '../../../../platform/json.ts';
import type { ChatFormat, ChatOptions, ChatTool } from '../../domain/chat-options.ts';
import { checkedOptions } from '../../domain/inputs/vendor-options/check.ts';
import type { ChatFormatInput, ChatInput, ChatMessageInput, ChatPartInput, ChatToolInput } from './input.ts';
import { checkJsonMessage } from './json-messages.ts';
import { createDataPart } from './media-parts.ts';
import {
  countCharacters,
  checkCalls,
  type Conversation,
  type Message,
  type Part,
  plainParts,
} from './messages.ts';

/** Checks conversations before anything is paid for. Pure. */

const MAX_MESSAGES = 500;
const MAX_PARTS = 100;
const MAX_CHARACTERS = 500_000;
/** Most characters of media that came as data in the request itself. */
const MAX_DATA = 20 << 20;

/** Throws BAD_USER_INPUT naming the field. */
export function checkConversation(input: ChatInput): Conversation {
  const { system = null, temperature = null, maxTokens = null } = input;
  if (temperature !== null && !(temperature >= 0 && temperature <= 2)) {
    throw badInput('temperature', 'temperature must be from 0 to 2');
  }
  if (maxTokens !== null && !(maxTokens >= 1)) throw badInput('maxTokens', 'maxTokens must be at least 1');
  const messages = checkMessages(input);
  const conversation = {
    messages,
    system: system === '' ? null : system,
    temperature,
    maxTokens,
    options: checkOptions(input),
  };
  checkSizes(conversation);
  return conversation;
}

function checkMessages({ conversation = null, messages: written = null }: ChatInput): readonly Message[] {
  const field = conversation === null && written !== null ? 'messages' : 'conversation';
  if (conversation !== null && written !== null) {
    throw badInput('messages', 'one of conversation and messages must be given, not both');
  }
  const list: unknown = conversation ?? written;
  if (!Array.isArray(list) || list.length === 0) {
    const form = field === 'messages' ? '{ role, content }' : '{ role, text }';
    throw badInput(field, `${field} must be a list of messages such as ${form}, at least one`);
  }
  if (list.length > MAX_MESSAGES) {
    throw badInput(field, `${field} may be at most ${MAX_MESSAGES}, these are ${list.length}`);
  }
  const checked =
    conversation === null
      ? list.map((message: unknown, index) => checkJsonMessage(message, `messages[${index}]`))
      : conversation.map((message, index) => checkTypedMessage(message, `conversation[${index}]`));
  checkResults(checked, field);
  return checked;
}

/** Every result of a tool belongs to a call before it. */
function checkResults(messages: readonly Message[], field: string): void {
  const called = new Set<unknown>();
  for (const [index, { calls }] of messages.entries()) {
    for (const { id } of calls.tool_calls ?? []) called.add(id);
    if (calls.tool_call_id !== undefined && !called.has(calls.tool_call_id)) {
      const at = `${field}[${index}]`;
      throw badInput(at, `${at} answers a tool call that no message before it has`);
    }
  }
}

function checkSizes(conversation: Conversation): void {
  const parts = conversation.messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  if (parts.length > MAX_PARTS) {
    throw badInput('messages', `messages may have at most ${MAX_PARTS} parts, these have ${parts.length}`);
  }
  const characters = countCharacters(conversation);
  if (characters > MAX_CHARACTERS) {
    throw badInput(
      'messages',
      `messages may have at most ${MAX_CHARACTERS} characters, these have ${characters}`,
    );
  }
  const data = plainParts(parts).filter(({ type }) => type !== 'text');
  if (data.reduce((sum, part) => sum + JSON.stringify(part).length, 0) > MAX_DATA) {
    throw badInput('messages', 'messages carry too much media as data: upload it and send its address');
  }
}

/** Checks a message of `conversation`. Throws BAD_USER_INPUT naming the field. */
function checkTypedMessage(message: ChatMessageInput, field: string): Message {
  const { text = null, parts = null, toolCalls = null, toolCallId = null } = message;
  const role = message.role.toLowerCase();
  const written = toolCalls?.map(({ arguments: given, ...call }) => ({
    ...call,
    arguments: typeof given === 'string' ? given : JSON.stringify(given),
  }));
  const calls = checkCalls(role, { calls: written ?? null, id: toolCallId }, field);
  if (text !== null && parts !== null) throw badInput(field, `${field} must have one of text and parts`);
  if (text !== null) {
    if (text.trim() === '' && role === 'user') {
      throw badInput(`${field}.text`, `${field}.text must not be empty`);
    }
    return { role, content: text, calls };
  }
  if (parts !== null && parts.length > 0) {
    return { role, content: parts.map((part, index) => checkPart(part, `${field}.parts[${index}]`)), calls };
  }
  if (calls.tool_calls !== undefined) return { role, content: '', calls };
  throw badInput(field, `${field} must have text or parts`);
}

function checkPart({ text = null, url = null, fileId = null }: ChatPartInput, field: string): Part {
  if ([text, url, fileId].filter((one) => one !== null).length !== 1) {
    throw badInput(field, `${field} must have exactly one of text, url and fileId`);
  }
  if (text !== null) return { plain: { type: 'text', text } };
  if (url === null) return { field, media: { fileId: String(fileId) } };
  return url.startsWith('data:') ? { plain: createDataPart(url, field) } : { field, media: { url } };
}

const MAX_TOOLS = 128;
const NAME = /^[\w-]{1,64}$/;
const CHOICES = ['auto', 'none', 'required'];

/** Checks tools and the form of the answer. Throws BAD_USER_INPUT naming the field. */
function checkOptions(input: ChatInput): ChatOptions {
  const tools = checkTools(input.tools ?? []);
  return {
    tools,
    toolChoice: checkChoice(input.toolChoice ?? null, tools),
    responseFormat: checkFormat(input.responseFormat ?? null),
    reasoningEffort: input.reasoningEffort ?? null,
    vendorOptions: checkedOptions(input.options) ?? null,
  };
}

function checkTools(tools: readonly ChatToolInput[]): readonly ChatTool[] {
  if (tools.length > MAX_TOOLS) {
    throw badInput('tools', `tools may be at most ${MAX_TOOLS}, these are ${tools.length}`);
  }
  const names = new Set<string>();
  return tools.map(({ name, description = null, parameters = null, strict = null }, index) => {
    const field = `tools[${index}]`;
    checkName(name, `${field}.name`);
    if (CHOICES.includes(name) || names.has(name)) {
      throw badInput(`${field}.name`, `${field}.name ${name} is taken: choose another`);
    }
    names.add(name);
    if (parameters !== null && !isObject(parameters)) {
      throw badInput(`${field}.parameters`, `${field}.parameters must be a JSON Schema: an object`);
    }
    return { name, description, parameters, strict };
  });
}

function checkChoice(choice: string | null, tools: readonly ChatTool[]): string | null {
  if (choice === null) return null;
  const named = tools.map(({ name }) => name);
  if (tools.length > 0 && [...CHOICES, ...named].includes(choice)) return choice;
  throw badInput(
    'toolChoice',
    tools.length === 0
      ? 'toolChoice needs tools'
      : `toolChoice must be one of ${[...CHOICES, ...named].join(', ')}`,
  );
}

function checkFormat(format: ChatFormatInput | null): ChatFormat | null {
  if (format === null || format.type === 'TEXT') return null;
  const { type, name = null, schema = null, strict = null } = format;
  if (type === 'JSON_OBJECT') {
    if (schema === null) return { type };
    throw badInput('responseFormat.schema', 'responseFormat.schema is for the type JSON_SCHEMA');
  }
  if (!isObject(schema) && typeof schema !== 'boolean') {
    throw badInput('responseFormat.schema', 'responseFormat.schema must be a JSON Schema: an object');
  }
  const called = name ?? 'answer';
  checkName(called, 'responseFormat.name');
  return { type, name: called, schema: schema satisfies Json, strict };
}

function checkName(name: string, field: string): void {
  if (!NAME.test(name)) throw badInput(field, `${field} must be 1 to 64 letters, digits, _ and -`);
}
