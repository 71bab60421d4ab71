import { badInput } from '../../../platform/errors.ts';
import type { Json, JsonObject } from '../../../platform/json.ts';
import { chatOptions } from '../../../rest-compat/media/chat-options.ts';
import type { ChatInput } from '../documents/chat.ts';
import type { FaceModel } from '../documents/models.ts';
import { integerIn, isObject, numberIn, objectIn, textIn } from '../request/fields.ts';
import { messagesIn } from './messages.ts';

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
  const options = optionsOf(body, model, ignored);
  const input = {
    generator: model.generator,
    model: model.model,
    conversation: messagesIn(body['messages']),
    ...chatOptions({
      tools: body['tools'] ?? undefined,
      tool_choice: choice === undefined ? undefined : textOf(choice),
      response_format: body['response_format'] ?? undefined,
      reasoning_effort: textIn(body, 'reasoning_effort'),
    }),
    ...(temperature !== undefined && takesTemperature && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(Object.keys(options).length > 0 && { options }),
  };
  return { input, ignored };
}

function optionsOf(body: JsonObject, { optionsSchema }: FaceModel, ignored: string[]): JsonObject {
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

function textOf(choice: Json): string {
  return typeof choice === 'string' ? choice : JSON.stringify(choice);
}
