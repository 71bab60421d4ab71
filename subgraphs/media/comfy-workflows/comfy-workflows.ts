import { badInput } from '../../../platform/errors.ts';
import { isObject, type JsonObject, type Json } from '../../../platform/json.ts';
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

/**
 * Whether something can be a ComfyUI graph at all: nodes with a class, inputs, links to nodes that exist. Whether the
 * classes exist and their inputs fit is known to the machine alone.
 */
interface ComfyNode {
  readonly class_type: string;
  readonly inputs: JsonObject;
}

/** A ComfyUI graph in its API form: nodes by id. */
export type Graph = Readonly<Record<string, ComfyNode & JsonObject>>;

/** Classes of ComfyUI that load a file, and the input that names it: an address there is a file of ours to hand over. */
export const LOADERS: Readonly<Record<string, string>> = {
  LoadImage: 'image',
  LoadImageMask: 'image',
  LoadAudio: 'audio',
  LoadVideo: 'file',
  VHS_LoadVideo: 'video',
};

const MAX_NODES = 1_000;
const MAX_BYTES = 1 << 20;

/** The graph, or BAD_USER_INPUT naming the node. */
export function checkedGraph(value: unknown): Graph {
  if (!isObject(value)) {
    throw badInput(
      'workflow',
      'workflow must be an object of nodes: { "<node id>": { class_type, inputs } }',
    );
  }
  if (Array.isArray(value['nodes']) && 'links' in value) {
    throw badInput('workflow', 'this is the format ComfyUI saves in; export the workflow as API format');
  }
  const ids = Object.keys(value);
  if (ids.length === 0) throw badInput('workflow', 'workflow has no nodes');
  if (ids.length > MAX_NODES) throw badInput('workflow', `workflow may have at most ${MAX_NODES} nodes`);
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_BYTES) {
    throw badInput('workflow', `workflow may have at most ${MAX_BYTES} bytes`);
  }
  for (const [id, node] of Object.entries(value)) checkNode(id, node, value);
  return value as Graph;
}

function checkNode(id: string, node: unknown, graph: JsonObject): void {
  const field = `workflow.${id.slice(0, 100)}`;
  if (!isObject(node)) throw badInput(field, `node ${name(id)} must be an object with class_type and inputs`);
  const { class_type: classType, inputs } = node;
  if (typeof classType !== 'string' || classType === '') {
    throw badInput(`${field}.class_type`, `node ${name(id)} has no class_type`);
  }
  if (!isObject(inputs)) {
    throw badInput(`${field}.inputs`, `node ${name(id)} (${classType}) must have an object of inputs`);
  }
  for (const [input, value] of Object.entries(inputs)) {
    if (!isLink(value) || Object.hasOwn(graph, value[0])) continue;
    throw badInput(
      `${field}.inputs.${input.slice(0, 100)}`,
      `node ${name(id)} (${classType}) takes ${input.slice(0, 100)} from node ${name(value[0])}, which does not exist`,
    );
  }
}

/** Whether a value is a link: [node id, number of its output]. */
export function isLink(value: unknown): value is readonly [string, number] {
  return (
    Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && Number.isInteger(value[1])
  );
}

function name(id: string): string {
  return JSON.stringify(id.slice(0, 100));
}
