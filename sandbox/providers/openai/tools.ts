import { createHash } from 'node:crypto';

import { z } from 'zod';

import type { Answer } from '../../http/answer.ts';
import { makeInstance } from '../shared/rules/json-schema.ts';
import { invalid } from './errors.ts';

/** Tools and formats of a chat: local-rules calls the tool that a message names, and fills schemas by rules. */

/** A tool of the caller's. */
export const tool = z.object({
  type: z.literal('function'),
  function: z.object({
    name: z.string().regex(/^[\w-]{1,64}$/),
    parameters: z.record(z.string(), z.unknown()).optional(),
  }),
});

/** Whether a tool must, may or must not be called. */
export const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) }),
  z.object({
    type: z.literal('allowed_tools'),
    allowed_tools: z.object({
      mode: z.enum(['auto', 'required']),
      tools: z.array(z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) })),
    }),
  }),
]);

/** What the text must be. */
export const responseFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    json_schema: z.object({ name: z.string(), schema: z.record(z.string(), z.unknown()) }),
  }),
]);

/** A call of a tool. */
export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

interface ToolRequest {
  readonly tools?: readonly z.output<typeof tool>[] | null | undefined;
  readonly tool_choice?: z.output<typeof toolChoice> | null | undefined;
}

/** Why the choice of tools can't be: of a tool that is not there, or without any; null when it can. */
export function toolRefusal({ tools, tool_choice: choice }: ToolRequest): Answer | null {
  if (choice === undefined || choice === null || choice === 'none') return null;
  if (!tools || tools.length === 0) {
    return invalid("'tool_choice' is only allowed when 'tools' are specified.", 'tool_choice');
  }
  if (typeof choice === 'string') return null;
  const named = choice.type === 'function' ? [choice] : choice.allowed_tools.tools;
  const unknown = named.find(({ function: { name } }) => tools.every((one) => one.function.name !== name));
  if (unknown === undefined) return null;
  return invalid(`Tool choice '${unknown.function.name}' not found in 'tools' parameter.`, 'tool_choice');
}

/** The tools that are called: the chosen one, else the one whose name is in the text. */
export function toolCalls({ tools, tool_choice: choice }: ToolRequest, text: string): readonly ToolCall[] {
  if (!tools || choice === 'none') return [];
  if (typeof choice === 'object' && choice?.type === 'allowed_tools') {
    const { mode, tools: allowed } = choice.allowed_tools;
    const names = allowed.map((one) => one.function.name);
    return toolCalls(
      { tools: tools.filter((one) => names.includes(one.function.name)), tool_choice: mode },
      text,
    );
  }
  const isNamed = (name: string) => text.toLowerCase().includes(name.replaceAll(/[_-]/g, ' ').toLowerCase());
  const found =
    typeof choice === 'object' && choice !== null
      ? tools.find((one) => one.function.name === choice.function.name)
      : (tools.find((one) => isNamed(one.function.name) || text.includes(one.function.name)) ??
        (choice === 'required' ? tools[0] : undefined));
  if (found === undefined) return [];
  const { name, parameters = {} } = found.function;
  const id = createHash('sha256').update(`${name} ${text}`).digest('hex').slice(0, 24);
  return [
    {
      id: `call_${id}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(makeInstance(parameters, text)) },
    },
  ];
}

/** The reply in the format that was asked for. */
export function formatted(
  format: z.output<typeof responseFormat> | null | undefined,
  { text, answered }: { readonly text: string; readonly answered: string },
): string {
  if (format?.type === 'json_object') return JSON.stringify({ reply: answered });
  if (format?.type === 'json_schema') return JSON.stringify(makeInstance(format.json_schema.schema, text));
  return answered;
}
