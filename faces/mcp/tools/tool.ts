import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';

import type { Execution } from '../../../rest-compat/replies/results.ts';
import type { RateClass } from '../../../rest-compat/route/route.ts';
import type { Catalog } from '../work/catalog.ts';
import type { McpTask } from '../work/documents.ts';
import type { ReadFile } from '../work/results.ts';

/** What a tool of the face consists of. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly rateClass: RateClass;
  readonly annotations: ToolAnnotations;
  /** Its arguments as JSON Schema, for what the caller may use. */
  readonly inputSchema: (catalog: Catalog) => ToolSchema;
  /** Runs it. Throws AppError for what the graph refuses, BAD_USER_INPUT for arguments that do not fit. */
  readonly run: (arguments_: unknown, scope: ToolScope) => Promise<ToolAnswer>;
}

/** A JSON Schema of arguments. */
type ToolSchema = Readonly<Record<string, unknown>> & { readonly type: 'object' };

/** A result at once, or a task that was started or joined. */
export type ToolAnswer = { readonly result: CallToolResult } | { readonly task: McpTask };

/** Whom a tool works for. */
export interface ToolScope extends Execution {
  readonly catalog: Catalog;
  readonly readFile: ReadFile;
  /** Waits for the end of a task, and reads it; it may still run when the time is up. */
  readonly wait: (task: McpTask, seconds: number) => Promise<McpTask>;
}

interface ToolDefinition<Shape extends z.ZodRawShape> extends Pick<
  Tool,
  'name' | 'title' | 'description' | 'rateClass' | 'annotations'
> {
  readonly arguments: (catalog: Catalog) => Shape;
  readonly run: (input: z.infer<z.ZodObject<Shape>>, scope: ToolScope) => Promise<ToolAnswer>;
}

/** Makes a tool whose arguments are checked before it runs. */
export function tool<Shape extends z.ZodRawShape>(definition: ToolDefinition<Shape>): Tool {
  const { arguments: shapeOf, run, ...facts } = definition;
  return {
    ...facts,
    inputSchema(catalog) {
      const { $schema: _dialect, ...schema } = z.toJSONSchema(z.strictObject(shapeOf(catalog)), {
        io: 'input',
      });
      return { ...schema, type: 'object' };
    },
    async run(given, scope) {
      const parsed = z.strictObject(shapeOf(scope.catalog)).safeParse(given ?? {});
      if (!parsed.success) return { result: wrongArguments(parsed.error) };
      return run(parsed.data, scope);
    },
  };
}

function wrongArguments({ issues }: z.ZodError): CallToolResult {
  const problems = issues
    .slice(0, 10)
    .map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`);
  return { content: [{ type: 'text', text: `BAD_USER_INPUT: ${problems.join('; ')}` }], isError: true };
}

/** A text as a result, with the same for programs. */
export function textResult(text: string, structuredContent?: Record<string, unknown>): ToolAnswer {
  return { result: { content: [{ type: 'text', text }], ...(structuredContent && { structuredContent }) } };
}

/** Annotations of tools that only look. */
export const LOOKS: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };

/** Annotations of tools that spend. */
export const SPENDS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};
