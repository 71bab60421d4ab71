import { badInput } from '../../../../platform/errors.ts';
import type { ChatInput } from './input.ts';
import { checkJsonMessage } from './json-messages.ts';
import { charactersOf, plainParts, type Conversation, type Message } from './messages.ts';
import { checkOptions } from './options.ts';
import { checkTypedMessage } from './typed-messages.ts';

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
  const characters = charactersOf(conversation);
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
