import { badInput } from '../../../../platform/errors.ts';
import type { Json, JsonObject } from '../../../../platform/json.ts';
import type { ChatFormat, ChatOptions, ChatTool } from '../../domain/chat-options.ts';
import { checkedOptions } from '../../domain/inputs/vendor-options/check.ts';
import type { ChatFormatInput, ChatInput, ChatToolInput } from './input.ts';

const MAX_TOOLS = 128;
const NAME = /^[\w-]{1,64}$/;
const CHOICES = ['auto', 'none', 'required'];

/** Checks tools and the form of the answer. Throws BAD_USER_INPUT naming the field. */
export function checkOptions(input: ChatInput): ChatOptions {
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

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
