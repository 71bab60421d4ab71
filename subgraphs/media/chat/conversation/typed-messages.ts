import { badInput } from '../../../../platform/errors.ts';
import type { ChatMessageInput, ChatPartInput } from './input.ts';
import { dataPartOf } from './media-format.ts';
import { checkCalls, type Message, type Part } from './messages.ts';

/** Checks a message of `conversation`. Throws BAD_USER_INPUT naming the field. */
export function checkTypedMessage(message: ChatMessageInput, field: string): Message {
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
  return url.startsWith('data:') ? { plain: dataPartOf(url, field) } : { field, media: { url } };
}
