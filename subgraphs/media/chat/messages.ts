import { badInput } from '../../../platform/errors.ts';
import type { Json, JsonObject } from '../../../platform/json.ts';
import type { ChatInput } from './chat.ts';

/** Checks conversations before anything is paid for. Pure. */

/** A conversation as it is sent, but for the media parts whose bytes are still to be fetched. */
export interface Conversation {
  readonly messages: readonly Message[];
  readonly system: string | null;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
}

interface Message {
  readonly role: string;
  readonly content: string | readonly Part[];
}

/** A part in OpenAI's format, or a file that becomes one. */
type Part = { readonly plain: JsonObject } | MediaPart;

/** An image, a video or a recording within a message. */
export interface MediaPart {
  /** The field as the caller wrote it. */
  readonly field: string;
  readonly media: { readonly url: string } | { readonly fileId: string };
}

const ROLES = ['system', 'user', 'assistant'];
const MAX_MESSAGES = 500;
const MAX_PARTS = 100;
const MAX_CHARACTERS = 500_000;
/** Most characters of media that came as data in the request itself. */
const MAX_DATA = 20 << 20;

/** Throws BAD_USER_INPUT naming the field. */
export function checkConversation(input: ChatInput): Conversation {
  const { messages, system = null, temperature = null, maxTokens = null } = input;
  if (temperature !== null && !(temperature >= 0 && temperature <= 2)) {
    throw badInput('temperature', 'temperature must be from 0 to 2');
  }
  if (maxTokens !== null && !(maxTokens >= 1)) throw badInput('maxTokens', 'maxTokens must be at least 1');
  if (!Array.isArray(messages) || messages.length === 0) {
    throw badInput('messages', 'messages must be a list of { role, content }, at least one');
  }
  if (messages.length > MAX_MESSAGES) {
    throw badInput('messages', `messages may be at most ${MAX_MESSAGES}, these are ${messages.length}`);
  }
  const checked = messages.map((message: unknown, index) => checkMessage(message, `messages[${index}]`));
  checkSizes(checked, system);
  return { messages: checked, system: system === '' ? null : system, temperature, maxTokens };
}

function checkMessage(message: unknown, field: string): Message {
  if (!isObject(message)) throw badInput(field, `${field} must be an object with role and content`);
  const { role, content } = message;
  if (typeof role !== 'string' || !ROLES.includes(role)) {
    throw badInput(`${field}.role`, `${field}.role must be one of ${ROLES.join(', ')}`);
  }
  if (typeof content === 'string') {
    if (content.trim() === '' && role === 'user') {
      throw badInput(`${field}.content`, `${field}.content must not be empty`);
    }
    return { role, content };
  }
  if (!Array.isArray(content) || content.length === 0) {
    throw badInput(`${field}.content`, `${field}.content must be a text or a list of parts`);
  }
  return {
    role,
    content: content.map((part: unknown, index) => checkPart(part, `${field}.content[${index}]`)),
  };
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
  if (isObject(audio) && !('data' in audio)) return mediaPart(audio, field, 'media');
  throw badInput(field, `${field} must be { data, format } or { url }`);
}

/** A data address is passed on as it is; everything else is fetched first. */
function mediaPart(part: Json | undefined, field: string, type: 'image_url' | 'video_url' | 'media'): Part {
  const source: Json = typeof part === 'string' ? { url: part } : (part ?? null);
  if (isObject(source)) {
    const { url = null, fileId = null } = source;
    if (typeof fileId === 'string' && url === null) return { field, media: { fileId } };
    if (typeof url === 'string' && fileId === null) {
      if (type === 'media' || !url.startsWith('data:')) return { field, media: { url } };
      return { plain: { type, [type]: { ...source, url } } };
    }
  }
  throw badInput(field, `${field} must be { url } or { fileId }`);
}

/** How long a conversation is, system and all texts. */
export function charactersOf({ messages, system }: Pick<Conversation, 'messages' | 'system'>): number {
  const texts = messages.flatMap(({ content }) =>
    typeof content === 'string' ? [content] : plainParts(content).map(({ text }) => text),
  );
  return [system, ...texts].reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? text.length : 0),
    0,
  );
}

function plainParts(parts: readonly Part[]): readonly JsonObject[] {
  return parts.flatMap((part) => ('plain' in part ? [part.plain] : []));
}

function checkSizes(messages: readonly Message[], system: string | null): void {
  const parts = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  if (parts.length > MAX_PARTS) {
    throw badInput('messages', `messages may have at most ${MAX_PARTS} parts, these have ${parts.length}`);
  }
  const characters = charactersOf({ messages, system });
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

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
