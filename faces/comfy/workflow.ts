import { isObject, type Json, type JsonObject } from '../../platform/json.ts';
import type { InputOf } from '../../rest-compat/documents/graphql.ts';
import { ComfyRefusal } from './call.ts';
import type { ComfyRun, ComfyTask } from './documents.ts';

/** Graphs with references to assets, and the input of the graph of ours that they become. Pure. */

type RunInput = InputOf<typeof ComfyRun>['input'];

/** A node of this class stands for a saved graph: its inputs are the function's. */
const FUNCTION = 'workflow/';
const REFERENCE = 'core/ASSET';

/** What is run, and where it takes which asset. */
export interface ReadWorkflow {
  readonly input: RunInput;
  /** `<node id>.<input name>` -> the id of an asset. */
  readonly assets: ReadonlyMap<string, string>;
  /** The node that stands for a saved graph; null for any other graph. */
  readonly node: string | null;
}

/** Reads the `workflow` of a submission. Throws ComfyRefusal for what is known to be wrong here already. */
export function readWorkflow(workflow: Json | undefined): ReadWorkflow {
  if (!isObject(workflow))
    throw invalid('workflow must be a graph in API format: node id -> { class_type, inputs }');
  if (Array.isArray(workflow['nodes']) && 'links' in workflow) {
    const message = "this is the format of ComfyUI's editor; export the workflow in API format";
    throw new ComfyRefusal(422, 'workflow_format_ui', message);
  }
  const assets = new Map<string, string>();
  const graph = Object.fromEntries(
    Object.entries(workflow).map(([id, node]) => [id, withoutAssets(id, node, assets)]),
  );
  if (JSON.stringify(graph).includes(`"__type":"${REFERENCE}"`)) {
    throw missing('a core/ASSET reference must be the whole value of an input of a node');
  }
  const called = functionIn(graph);
  if (called !== null) return { input: toCall(called, assets), assets, node: called.id };
  return { input: { workflow: graph, inputs: toWorkflowFiles(assets) }, assets, node: null };
}

/** A node whose references are replaced by names; what they refer to is added to `assets`. */
function withoutAssets(id: string, node: Json, assets: Map<string, string>): Json {
  if (!isObject(node) || !isObject(node['inputs'])) return node;
  const inputs = Object.entries(node['inputs']).map(([name, value]) => {
    if (!isReference(value)) return [name, value] as const;
    const info = isObject(value['info']) ? value['info'] : {};
    const { id: asset, file_path: filePath } = info;
    if (typeof asset !== 'string') throw missing(`node ${id}: info.id of its core/ASSET reference is needed`);
    assets.set(`${id}.${name}`, asset);
    return [name, typeof filePath === 'string' ? filePath : asset] as const;
  });
  return { ...node, inputs: Object.fromEntries(inputs) };
}

function isReference(value: Json | undefined): value is JsonObject {
  return isObject(value) && value['__type'] === REFERENCE;
}

interface CalledNode {
  readonly id: string;
  readonly node: JsonObject;
}

/** The one node of a graph that stands for a saved graph; null for any other graph. */
function functionIn(graph: JsonObject): CalledNode | null {
  const nodes = Object.entries(graph).map(([id, node]) => ({ id, node: isObject(node) ? node : {} }));
  const called = nodes.find(({ node }) => nameIn(node) !== null);
  if (called === undefined) return null;
  if (nodes.length > 1) {
    throw invalid(`node ${called.id}: a saved workflow is called by a graph that has this one node`);
  }
  return called;
}

function toCall({ id, node }: CalledNode, assets: ReadonlyMap<string, string>): RunInput {
  const { inputs } = node;
  const files = [...assets].map(([at, fileId]) => [at.slice(id.length + 1), { fileId }] as const);
  return {
    workflowName: nameIn(node),
    inputs: { ...(isObject(inputs) ? inputs : {}), ...Object.fromEntries(files) },
  };
}

/** The saved workflow that a node stands for. */
function nameIn({ class_type: name }: JsonObject): string | null {
  return typeof name === 'string' && name.startsWith(FUNCTION) ? name.slice(FUNCTION.length) : null;
}

function toWorkflowFiles(assets: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries([...assets].map(([at, fileId]) => [at, { fileId }]));
}

/** The graph of a job as it was submitted, with its references; null where it is not the caller's to read. */
export function submittedWorkflow({ input }: ComfyTask): JsonObject | null {
  const { workflow } = (input?.options ?? {}) as JsonObject;
  if (!isObject(workflow)) return null;
  const graph = structuredClone(workflow) as Record<string, { inputs?: Record<string, Json> }>;
  for (const { input: at, media } of input?.files ?? []) {
    const [, node = '', name = ''] = /^inputs\.([^.]+)\.(.+)$/.exec(at) ?? [];
    const inputs = graph[node]?.inputs;
    if (inputs !== undefined && media !== null) inputs[name] = referenceTo(media);
  }
  return graph;
}

type Named = NonNullable<NonNullable<ComfyTask['input']>['files'][number]['media']>;

function referenceTo({ id, name, blake3 }: Named): JsonObject {
  const hash = blake3 === null ? {} : { hash: `blake3:${blake3}` };
  return { __type: REFERENCE, info: { id, ...hash, file_path: name } };
}

/** How many nodes the graph of a job has; at least one. */
export function nodeCount({ input }: ComfyTask): number {
  const { workflow } = (input?.options ?? {}) as JsonObject;
  return Math.max(1, isObject(workflow) ? Object.keys(workflow).length : 1);
}

/** The class of a node of a job's graph; null where it is not known. */
export function findClass({ input }: ComfyTask, id: string): string | null {
  const { workflow } = (input?.options ?? {}) as JsonObject;
  const node = isObject(workflow) ? workflow[id] : undefined;
  return isObject(node) && typeof node['class_type'] === 'string' ? node['class_type'] : null;
}

function invalid(message: string): ComfyRefusal {
  return new ComfyRefusal(422, 'invalid_workflow', message);
}

function missing(message: string): ComfyRefusal {
  return new ComfyRefusal(422, 'missing_asset', message);
}
