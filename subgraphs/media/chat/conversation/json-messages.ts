import { badInput } from '../../../../platform/errors.ts';
import { isObject, type Json, type JsonObject } from '../../../../platform/json.ts';
import { checkCalls, KINDS, ROLES, type Message, type Part, type WrittenCall } from './messages.ts';

/** Checks a message in OpenAI's format: { role, content }, `tool_calls`, `tool_call_id`. Throws BAD_USER_INPUT. */
export function checkJsonMessage(message: unknown, field: string): Message {
  if (!isObject(message)) throw badInput(field, `${field} must be an object with role and content`);
  const { role, content } = message;
  if (typeof role !== 'string' || !ROLES.includes(role)) {
    throw badInput(`${field}.role`, `${field}.role must be one of ${ROLES.join(', ')}`);
  }
  const calls = checkCalls(role, { calls: callsIn(message, field), id: callIdIn(message, field) }, field);
  if (typeof content === 'string') {
    if (content.trim() === '' && role === 'user') {
      throw badInput(`${field}.content`, `${field}.content must not be empty`);
    }
    return { role, content, calls };
  }
  if (calls.tool_calls !== undefined && (content ?? null) === null) return { role, content: '', calls };
  if (!Array.isArray(content) || content.length === 0) {
    throw badInput(`${field}.content`, `${field}.content must be a text or a list of parts`);
  }
  const parts = content.map((part: unknown, index) => checkPart(part, `${field}.content[${index}]`));
  return { role, content: parts, calls };
}

function callsIn({ tool_calls: calls = null }: JsonObject, field: string): readonly WrittenCall[] | null {
  if (calls === null) return null;
  const at = `${field}.tool_calls`;
  if (!Array.isArray(calls)) throw badInput(at, `${at} must be a list of { id, function }`);
  return calls.map((call: unknown, index) => {
    const { id, function: called } = isObject(call) ? call : {};
    const { name, arguments: given = '{}' } = isObject(called) ? called : {};
    if (typeof id !== 'string' || typeof name !== 'string') {
      throw badInput(`${at}[${index}]`, `${at}[${index}] must be { id, function: { name, arguments } }`);
    }
    return { id, name, arguments: typeof given === 'string' ? given : JSON.stringify(given) };
  });
}

function callIdIn({ tool_call_id: id = null }: JsonObject, field: string): string | null {
  if (id === null || typeof id === 'string') return id;
  throw badInput(`${field}.tool_call_id`, `${field}.tool_call_id must be a text`);
}

function checkPart(part: unknown, field: string): Part {
  if (!isObject(part)) throw badInput(field, `${field} must be an object with a type`);
  switch (part['type']) {
    case 'text':
      if (typeof part['text'] !== 'string') throw badInput(`${field}.text`, `${field}.text must be a text`);
      return { plain: { type: 'text', text: part['text'] } };
    case 'input_audio':
      return audioPart(part['input_audio'], `${field}.input_audio`);
    case 'image_url':
    case 'video_url':
    case 'media':
      return mediaPart(part[part['type']], `${field}.${part['type']}`, part['type']);
    default:
      throw badInput(
        `${field}.type`,
        `${field}.type must be one of text, image_url, input_audio, video_url and media`,
      );
  }
}

function audioPart(audio: Json | undefined, field: string): Part {
  if (isObject(audio) && typeof audio['data'] === 'string' && typeof audio['format'] === 'string') {
    const { data, format } = audio;
    return { plain: { type: 'input_audio', input_audio: { data, format } } };
  }
  if (isObject(audio) && !('data' in audio)) return mediaPart(audio, field, 'input_audio');
  throw badInput(field, `${field} must be { data, format } or { url }`);
}

/** A data address is passed on as it is; everything else is fetched first. */
function mediaPart(
  given: Json | undefined,
  field: string,
  type: 'image_url' | 'video_url' | 'input_audio' | 'media',
): Part {
  const source: Json = typeof given === 'string' ? { url: given } : (given ?? null);
  const kind = KINDS[type];
  if (isObject(source)) {
    const { url = null, fileId = null } = source;
    if (typeof fileId === 'string' && url === null)
      return { field, media: { fileId }, ...(kind && { kind }) };
    if (typeof url === 'string' && fileId === null) {
      const isFetched = type === 'media' || type === 'input_audio' || !url.startsWith('data:');
      if (isFetched) return { field, media: { url }, ...(kind && { kind }) };
      return { plain: { type, [type]: { ...source, url } } };
    }
  }
  throw badInput(field, `${field} must be { url } or { fileId }`);
}
