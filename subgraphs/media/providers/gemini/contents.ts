import type { Json, JsonObject } from '../../../../platform/json.ts';
import { parsedArguments } from '../../domain/chat-options.ts';
import { invalidInput } from '../../domain/failure.ts';
import { readDataUrl } from '../../domain/inputs/input-files.ts';
import type { ChatRequest } from '../contract/provider.ts';

/** Converts a conversation from OpenAI's format to Gemini's. Pure. */

/** A body of generateContent; its parts are in this wire's own format. */
export interface Contents {
  readonly contents: readonly { readonly role: 'user' | 'model'; readonly parts: readonly JsonObject[] }[];
  readonly systemInstruction?: { readonly parts: readonly JsonObject[] };
}

/**
 * Throws INVALID_INPUT naming `messages` when a part has no counterpart on this wire. `isSigned`: the model wants the
 * signature of its thoughts with each call and image of its own.
 */
export function buildContents(
  { messages, system }: Pick<ChatRequest, 'messages' | 'system'>,
  { isSigned }: { readonly isSigned: boolean },
): Contents {
  const given = Array.isArray(messages) ? messages.map((message) => readObject(message) ?? {}) : [];
  const names = namesOfCalls(given);
  const list = given.map((message) => toContent(message, { names, isSigned }));
  const instructions = list.filter(({ role }) => role === 'system').flatMap(({ parts }) => parts);
  const contents = joinedResults(list.flatMap((one) => (isSpoken(one) ? [one] : [])));
  if (contents.length === 0) throw invalidInput('messages', 'there is nothing to answer');
  const parts = [...(system === null ? [] : [{ text: system }]), ...instructions];
  return { contents, ...(parts.length > 0 && { systemInstruction: { parts } }) };
}

interface Content {
  readonly role: 'user' | 'model' | 'system';
  readonly parts: readonly JsonObject[];
  /** Whether it brings the result of a call. */
  readonly isResult: boolean;
}

type Spoken = Content & { readonly role: 'user' | 'model' };

function isSpoken(content: Content): content is Spoken {
  return content.role !== 'system';
}

/** Names of functions by the ids of their calls: this wire answers a call by its name. */
function namesOfCalls(messages: readonly JsonObject[]): ReadonlyMap<string, string> {
  const calls = messages.flatMap(readCalls);
  return new Map(calls.map((call) => [textIn(call['id']), textIn(readObject(call['function'])?.['name'])]));
}

function readCalls({ tool_calls: calls }: JsonObject): readonly JsonObject[] {
  return Array.isArray(calls) ? calls.map((call) => readObject(call) ?? {}) : [];
}

interface Calls {
  readonly names: ReadonlyMap<string, string>;
  readonly isSigned: boolean;
}

function toContent(message: JsonObject, { names, isSigned }: Calls): Content {
  const { role, content } = message;
  const isEmpty = content === '' || content === null || content === undefined;
  const parts = Array.isArray(content) ? content.map(toPart) : [{ text: textIn(content) }];
  if (role === 'tool') {
    const id = textIn(message['tool_call_id']);
    const name = names.get(id) ?? '';
    return { role: 'user', parts: [resultPart(name, parts)], isResult: true };
  }
  const calls = readCalls(message).map((call, index) => callPart(call, isSigned && index === 0));
  if (role === 'assistant') {
    const said = isEmpty && calls.length > 0 ? [] : parts;
    const signed = isSigned ? said.map((one) => ('inlineData' in one ? withSignature(one) : one)) : said;
    return { role: 'model', parts: [...signed, ...calls], isResult: false };
  }
  const isInstruction = role === 'system' || role === 'developer';
  return { role: isInstruction ? 'system' : 'user', parts, isResult: false };
}

/** What Google documents where a signature is not known: of what other models made, too. */
const UNSIGNED = 'skip_thought_signature_validator';

function withSignature(part: JsonObject): JsonObject {
  return { ...part, thoughtSignature: UNSIGNED };
}

function callPart(call: JsonObject, isSigned: boolean): JsonObject {
  const called = readObject(call['function']) ?? {};
  const given = parsedArguments(textIn(called['arguments']));
  const args = readObject(given) ?? { value: given };
  const part = { functionCall: { name: textIn(called['name']), args } };
  return isSigned ? withSignature(part) : part;
}

/** A result must be an object: any other becomes its `output`, the key that the vendor names for it. */
function resultPart(name: string, parts: readonly JsonObject[]): JsonObject {
  const texts = parts.map(({ text }) => {
    if (typeof text === 'string') return text;
    throw invalidInput('messages', 'gemini takes results of tools as text');
  });
  const text = texts.join('\n');
  return { functionResponse: { name, response: readObject(parsedArguments(text)) ?? { output: text } } };
}

/** Results that follow each other are one content: as many as the calls before them. */
function joinedResults(list: readonly Spoken[]): Contents['contents'] {
  const contents: Spoken[] = [];
  for (const one of list) {
    const last = contents.at(-1);
    if (last?.isResult === true && one.isResult) {
      contents[contents.length - 1] = { ...last, parts: [...last.parts, ...one.parts] };
    } else contents.push(one);
  }
  return contents.map(({ role, parts }) => ({ role, parts }));
}

function toPart(part: Json): JsonObject {
  const content = readObject(part) ?? {};
  switch (content['type']) {
    case 'text':
      return { text: textIn(content['text']) };
    case 'image_url':
    case 'video_url':
      return mediaPart(addressIn(content[content['type']]));
    case 'input_audio': {
      const { data, format } = readObject(content['input_audio']) ?? {};
      return { inlineData: { mimeType: soundType(textIn(format)), data: textIn(data) } };
    }
    case 'file':
      return mediaPart(textIn(readObject(content['file'])?.['file_data']));
    default:
      throw invalidInput('messages', `gemini takes no part of type ${textIn(content['type'])}`);
  }
}

/** The path of uploaded files, on any host. */
const FILE_URI = /^https?:\/\/[^?#]+\/files\/[\w-]+$|^gs:\/\//;

/** A data: URI goes inline, one of Google's own files by its name; other URLs are refused. */
function mediaPart(url: string): JsonObject {
  const inline = readDataUrl(url);
  if (inline !== null) return { inlineData: { mimeType: inline.contentType, data: inline.data } };
  if (FILE_URI.test(url)) return { fileData: { fileUri: url } };
  throw invalidInput('messages', 'gemini takes media as data: addresses, or as files of its own');
}

const SUBTYPES: ReadonlyMap<string, string> = new Map([
  ['mp3', 'mpeg'],
  ['m4a', 'mp4'],
]);

/** The MIME type for one of OpenAI's audio format names. */
function soundType(format: string): string {
  return `audio/${SUBTYPES.get(format) ?? format}`;
}

function readObject(value: Json | undefined): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function addressIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : textIn(readObject(value)?.['url']);
}
