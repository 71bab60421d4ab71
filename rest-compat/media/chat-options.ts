import { badInput } from '../../platform/errors.ts';
import type { Json, JsonObject } from '../../platform/json.ts';
import type { InputOf } from '../documents/graphql.ts';
import type { Chat } from '../documents/media/questions.ts';

/** Tools and forms of answers: OpenAI's fields, in which clients of language models write them, as the schema has them. */

type ChatInput = InputOf<typeof Chat>['input'];

/** The fields of a request that are in OpenAI's format. */
export interface WrittenOptions {
  readonly tools?: Json | undefined;
  readonly tool_choice?: string | undefined;
  readonly response_format?: Json | undefined;
  readonly reasoning_effort?: string | undefined;
}

type Options = Pick<ChatInput, 'tools' | 'toolChoice' | 'responseFormat' | 'reasoningEffort'>;

/** Throws BAD_USER_INPUT naming the field. */
export function chatOptions(written: WrittenOptions): Options {
  const { tools, tool_choice: choice, response_format: format, reasoning_effort: effort } = written;
  return {
    tools: tools === undefined ? undefined : toolsIn(tools),
    toolChoice: choice === undefined ? undefined : choiceIn(choice),
    responseFormat: format === undefined ? undefined : formatIn(format),
    reasoningEffort: effort === undefined ? undefined : effortIn(effort),
  };
}

function toolsIn(tools: Json): Options['tools'] {
  if (!Array.isArray(tools)) throw badInput('tools', 'tools must be a list of { type, function }');
  return tools.map((tool: Json, index) => {
    const { name, description, parameters, strict } = objectIn(objectIn(tool)['function']);
    if (typeof name !== 'string') {
      throw badInput('tools', `tools[${index}] must be { type: "function", function: { name, ... } }`);
    }
    return { name, ...textNamed('description', description), parameters, ...strictness(strict) };
  });
}

/** A word, or { type: "function", function: { name } } as JSON. */
function choiceIn(choice: string): string {
  if (!choice.trimStart().startsWith('{')) return choice;
  const { name } = objectIn(objectIn(jsonIn(choice))['function']);
  if (typeof name === 'string') return name;
  throw badInput(
    'tool_choice',
    'tool_choice must be auto, none, required, or { "type": "function", "function": { "name": ... } }',
  );
}

const FORMATS = { text: 'TEXT', json_object: 'JSON_OBJECT', json_schema: 'JSON_SCHEMA' } as const;

function formatIn(format: Json): Options['responseFormat'] {
  const { type, json_schema: described } = objectIn(format);
  const known = Object.entries(FORMATS).find(([name]) => name === type)?.[1];
  if (known === undefined) {
    throw badInput(
      'response_format',
      `response_format.type must be one of ${Object.keys(FORMATS).join(', ')}`,
    );
  }
  const { name, schema, strict } = objectIn(described);
  return { type: known, ...textNamed('name', name), schema, ...strictness(strict) };
}

const EFFORTS = ['NONE', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'XHIGH'] as const;

function effortIn(effort: string): Options['reasoningEffort'] {
  const known = EFFORTS.find((one) => one === effort.toUpperCase());
  if (known !== undefined) return known;
  const words = EFFORTS.map((one) => one.toLowerCase()).join(', ');
  throw badInput('reasoning_effort', `reasoning_effort must be one of ${words}`);
}

function textNamed<Name extends string>(name: Name, value: Json | undefined): { [Key in Name]?: string } {
  return (typeof value === 'string' ? { [name]: value } : {}) as { [Key in Name]?: string };
}

function strictness(strict: Json | undefined): { strict?: boolean } {
  return typeof strict === 'boolean' ? { strict } : {};
}

function objectIn(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function jsonIn(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
