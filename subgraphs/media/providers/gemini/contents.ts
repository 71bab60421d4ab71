import type { Json, JsonObject } from '../../../../platform/json.ts';
import { invalidInput } from '../../domain/failure.ts';
import type { ChatRequest } from '../contract/provider.ts';

/** Converts a conversation from OpenAI's format to Gemini's. Pure. */

/** A body of generateContent; its parts are in this wire's own format. */
export interface Contents {
  readonly contents: readonly { readonly role: 'user' | 'model'; readonly parts: readonly JsonObject[] }[];
  readonly systemInstruction?: { readonly parts: readonly JsonObject[] };
}

/** Throws INVALID_INPUT naming `messages` when a part has no counterpart on this wire. */
export function contentsOf({ messages, system }: Pick<ChatRequest, 'messages' | 'system'>): Contents {
  const list = Array.isArray(messages) ? messages.map(messageOf) : [];
  const instructions = list.filter(({ role }) => role === 'system').flatMap(({ parts }) => parts);
  const contents = list.flatMap(({ role, parts }) => (role === 'system' ? [] : [{ role, parts }]));
  if (contents.length === 0) throw invalidInput('messages', 'there is nothing to answer');
  const parts = [...(system === null ? [] : [{ text: system }]), ...instructions];
  return { contents, ...(parts.length > 0 && { systemInstruction: { parts } }) };
}

function messageOf(message: Json): {
  readonly role: 'user' | 'model' | 'system';
  readonly parts: readonly JsonObject[];
} {
  const { role, content } = objectOf(message) ?? {};
  const parts = Array.isArray(content) ? content.map(partOf) : [{ text: textIn(content) }];
  if (role === 'assistant') return { role: 'model', parts };
  return { role: role === 'system' || role === 'developer' ? 'system' : 'user', parts };
}

function partOf(part: Json): JsonObject {
  const content = objectOf(part) ?? {};
  switch (content['type']) {
    case 'text':
      return { text: textIn(content['text']) };
    case 'image_url':
    case 'video_url':
      return mediaPart(addressIn(content[content['type']]));
    case 'input_audio': {
      const { data, format } = objectOf(content['input_audio']) ?? {};
      return { inlineData: { mimeType: soundType(textIn(format)), data: textIn(data) } };
    }
    case 'file':
      return mediaPart(textIn(objectOf(content['file'])?.['file_data']));
    default:
      throw invalidInput('messages', `gemini takes no part of type ${textIn(content['type'])}`);
  }
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w=.+-]+)*;base64,/;
/** The path of uploaded files, on any host. */
const FILE_URI = /^https?:\/\/[^?#]+\/files\/[\w-]+$|^gs:\/\//;

/** A data: URI goes inline, one of Google's own files by its name; other URLs are refused. */
function mediaPart(url: string): JsonObject {
  const match = DATA_URL.exec(url);
  if (match !== null) {
    return { inlineData: { mimeType: match[1] ?? '', data: url.slice(match[0].length) } };
  }
  if (FILE_URI.test(url)) return { fileData: { fileUri: url } };
  throw invalidInput('messages', 'gemini takes media as data: addresses, or as files of its own');
}

/** The MIME type for one of OpenAI's audio format names. */
function soundType(format: string): string {
  return `audio/${{ mp3: 'mpeg', m4a: 'mp4' }[format] ?? format}`;
}

function objectOf(value: Json | undefined): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function addressIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : textIn(objectOf(value)?.['url']);
}
