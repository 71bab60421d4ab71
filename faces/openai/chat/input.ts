import { AppError, badInput } from '../../../platform/errors.ts';
import { type Json, type JsonObject, parseJson } from '../../../platform/json.ts';
import { chatOptions } from '../../../rest-compat/media/chat-options.ts';
import { withFieldName } from '../../../rest-compat/replies/field-names.ts';
import type { ChatInput } from '../documents/chat.ts';
import type { FaceModel } from '../documents/models.ts';
import { integerIn, isObject, numberIn, objectIn, textIn } from '../request/fields.ts';

/** A chat as the graph takes it, and the names of what the model has nothing for. Pure. */
export interface ReadChat {
  readonly input: ChatInput;
  readonly ignored: readonly string[];
}

/** Fields that go to the model as they are, where it has them; clients send many to every model. */
const VENDOR_FIELDS = [
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'stop',
  'seed',
  'logit_bias',
  'parallel_tool_calls',
  'service_tier',
  'store',
  'metadata',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'verbosity',
  'logprobs',
  'top_logprobs',
  'prompt_cache_retention',
  'modalities',
  'audio',
  'prediction',
  'web_search_options',
  'functions',
  'function_call',
];

/** Reads the fields of a chat. Throws BAD_USER_INPUT. */
export function readChat(body: JsonObject, model: FaceModel): ReadChat {
  if ((integerIn(body, 'n') ?? 1) !== 1)
    throw badInput('n', 'n must be 1: one answer is made of one request');
  const ignored: string[] = [];
  const temperature = numberIn(body, 'temperature');
  const takesTemperature = model.inputs.includes('temperature');
  if (temperature !== undefined && !takesTemperature) ignored.push('temperature');
  const maxTokens = integerIn(body, 'max_completion_tokens') ?? integerIn(body, 'max_tokens');
  const choice = body['tool_choice'] ?? undefined;
  const options = readOptions(body, model, ignored);
  const input = {
    generator: model.generator,
    model: model.model,
    conversation: messagesIn(body['messages']),
    ...chatOptions({
      tools: body['tools'] ?? undefined,
      tool_choice: choice === undefined ? undefined : toText(choice),
      response_format: body['response_format'] ?? undefined,
      reasoning_effort: textIn(body, 'reasoning_effort'),
    }),
    ...(temperature !== undefined && takesTemperature && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(Object.keys(options).length > 0 && { options }),
  };
  return { input, ignored };
}

function readOptions(body: JsonObject, { optionsSchema }: FaceModel, ignored: string[]): JsonObject {
  const schema = optionsSchema ?? null;
  const known = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  const named = VENDOR_FIELDS.flatMap((name) => {
    const value = body[name] ?? undefined;
    if (value === undefined) return [];
    if (known[name] !== undefined) return [[name, value] as const];
    ignored.push(name);
    return [];
  });
  return { ...Object.fromEntries(named), ...objectIn(body, 'options') };
}

function toText(choice: Json): string {
  return typeof choice === 'string' ? choice : JSON.stringify(choice);
}

/** Messages in OpenAI's format as the graph has them. Pure. */

type Message = NonNullable<ChatInput['conversation']>[number];
type Part = NonNullable<Message['parts']>[number];

const ROLES: ReadonlyMap<string | undefined, Message['role']> = new Map([
  ['system', 'SYSTEM'],
  ['developer', 'SYSTEM'],
  ['user', 'USER'],
  ['assistant', 'ASSISTANT'],
  ['tool', 'TOOL'],
]);

/** Throws BAD_USER_INPUT naming the message. */
function messagesIn(value: Json | undefined): readonly Message[] {
  if (Array.isArray(value) && value.length > 0) return value.map(messageIn);
  throw badInput('messages', "Missing required parameter: 'messages'.");
}

function wrong(at: string, problem: string): AppError {
  return badInput(at, `${at} ${problem}`);
}

function messageIn(message: Json, index: number): Message {
  const at = `messages[${index}]`;
  if (!isObject(message)) throw wrong(at, 'must be an object');
  const role = ROLES.get(textIn(message, 'role', `${at}.role`));
  if (role === undefined) throw wrong(`${at}.role`, `must be one of ${[...ROLES.keys()].join(', ')}`);
  const calls = callsIn(message['tool_calls'] ?? null, `${at}.tool_calls`);
  const toolCallId = textIn(message, 'tool_call_id', `${at}.tool_call_id`);
  const images = role === 'ASSISTANT' ? imagesIn(message['images'] ?? null, `${at}.images`) : [];
  const mayLack = calls.length + images.length > 0;
  return {
    role,
    ...withParts(contentIn(message['content'] ?? null, { at: `${at}.content`, mayLack }), images),
    ...(calls.length > 0 && { toolCalls: calls }),
    ...(toolCallId !== undefined && { toolCallId }),
  };
}

/** Images of an answer, as it was sent: clients send an answer back whole. */
function imagesIn(images: Json, at: string): readonly Part[] {
  if (images === null) return [];
  if (!Array.isArray(images)) throw wrong(at, 'must be a list');
  return images.map((image: Json, index) => partIn(image, `${at}[${index}]`));
}

function withParts(content: Pick<Message, 'text' | 'parts'>, added: readonly Part[]) {
  if (added.length === 0) return content;
  const { text, parts } = content;
  return { parts: [...(text ? [{ text }] : []), ...(parts ?? []), ...added] };
}

function contentIn(
  content: Json,
  { at, mayLack }: { readonly at: string; readonly mayLack: boolean },
): Pick<Message, 'text' | 'parts'> {
  if (typeof content === 'string') return { text: content };
  if (Array.isArray(content))
    return { parts: content.map((part: Json, index) => partIn(part, `${at}[${index}]`)) };
  if (content === null && mayLack) return {};
  throw wrong(at, 'must be a string or a list of parts');
}

function partIn(part: Json, at: string): Part {
  const { type, text, refusal, image_url, input_audio, video_url, file } = isObject(part) ? part : {};
  const words = text ?? refusal;
  if ((type === 'text' || type === 'refusal') && typeof words === 'string') return { text: words };
  if (type === 'image_url') return { url: addressIn(image_url, at) };
  if (type === 'video_url') return { url: addressIn(video_url, at) };
  if (type === 'input_audio' && isObject(input_audio)) {
    const format = textIn(input_audio, 'format', `${at}.input_audio.format`) ?? 'wav';
    const data = textIn(input_audio, 'data', `${at}.input_audio.data`) ?? '';
    return { url: `data:audio/${format === 'mp3' ? 'mpeg' : format};base64,${data}` };
  }
  if (type === 'file' && isObject(file)) {
    if (typeof file['file_id'] === 'string') return { fileId: file['file_id'] };
    if (typeof file['file_data'] === 'string') return { url: file['file_data'] };
  }
  throw wrong(at, 'must be a part of the type text, image_url, input_audio, video_url or file');
}

function addressIn(value: Json | undefined, at: string): string {
  const url = isObject(value) ? value['url'] : value;
  if (typeof url === 'string' && url !== '') return url;
  throw wrong(at, 'must have an address under url');
}

function callsIn(value: Json, at: string): NonNullable<Message['toolCalls']> {
  if (value === null) return [];
  if (!Array.isArray(value)) throw wrong(at, 'must be a list');
  return value.map((call: Json, index) => {
    const { id, function: called } = isObject(call) ? call : ({} as JsonObject);
    const { name, arguments: text } = isObject(called) ? called : ({} as JsonObject);
    if (typeof id !== 'string' || typeof name !== 'string' || typeof text !== 'string') {
      throw wrong(`${at}[${index}]`, 'must be { id, type, function: { name, arguments } }');
    }
    // A model may have written no JSON: it is sent back as it was.
    return { id, name, arguments: (parseJson(text) ?? text) as Json };
  });
}

/** The parts that hold each kind of media, by the names that models have for the kinds. */
const PART_TYPES: ReadonlyMap<string | undefined, string> = new Map([
  ['image', 'image_url'],
  ['audio', 'input_audio'],
  ['video', 'video_url'],
]);

/** A refusal by the name that was sent: of a kind of media that of its first part, of maxTokens the older one. */
export function asSent(thrown: unknown, body: JsonObject): unknown {
  if (!(thrown instanceof AppError)) return thrown;
  const type = PART_TYPES.get(thrown.field);
  if (type !== undefined) return withFieldName(thrown, findPart(body['messages'], type));
  const isOlder = thrown.field === 'maxTokens' && (body['max_completion_tokens'] ?? null) === null;
  return isOlder ? withFieldName(thrown, 'max_tokens') : thrown;
}

function findPart(messages: Json | undefined, type: string): string {
  for (const [index, message] of Object.entries(messages ?? {})) {
    const content = isObject(message) && Array.isArray(message['content']) ? message['content'] : [];
    const position = content.findIndex((part: Json) => isObject(part) && part['type'] === type);
    if (position !== -1) return `messages[${index}].content[${position}]`;
  }
  return 'messages';
}
