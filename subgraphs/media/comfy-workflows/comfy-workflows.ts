import type { Json, JsonObject } from '../../../platform/json.ts';
import bundled from './bundled-workflows.json' with { type: 'json' };

/**
 * The comfy workflows that come with Kiln: ComfyUI graphs in its API format with declared inputs, each said to stand
 * at `<node id>.<input name>` of the graph. The text graph is ComfyUI's own example (Comfy-Org/ComfyUI,
 * script_examples/basic_api_example.py).
 */
export interface ComfyWorkflow {
  readonly name: string;
  /** What it makes: image, video. */
  readonly category: string;
  readonly inputs: Readonly<Record<string, DeclaredInput>>;
  /** Node id -> { class_type, inputs }. */
  readonly workflow: JsonObject;
}

/** One input of a named comfy workflow. */
export interface DeclaredInput {
  readonly type: 'text' | 'integer' | 'number' | 'boolean' | 'file';
  readonly required: boolean;
  /** The value when none is sent. */
  readonly default?: Json;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  /** The only values it takes. */
  readonly values?: readonly string[];
  readonly description: string;
  /** Where it goes. */
  readonly at: readonly string[];
}

/** Every bundled comfy workflow, in order of listing. */
export const comfyWorkflows = bundled as readonly ComfyWorkflow[];

/** The declared inputs as callers see them: without where they go. */
export function publicInputs({ inputs }: ComfyWorkflow): JsonObject {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, input]) => [name, asJson({ ...input, at: undefined })]),
  );
}

/** The same as JSON has it: what is undefined is left out. */
function asJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
