import { badInput } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/ids.ts';
import { isObject, type Json, type JsonObject } from '../../../platform/json.ts';
import {
  comfyWorkflows,
  type ComfyWorkflow,
  type DeclaredInput,
  checkedGraph,
  type Graph,
  LOADERS,
} from './comfy-workflows.ts';

/** Exactly one of workflow and workflowName, and values for its inputs. */
export interface ComfyRequest {
  readonly workflow?: unknown;
  readonly workflowName?: string | null | undefined;
  readonly inputs?: unknown;
}

/** A graph with every plain value in its place, and the files that go into it. */
export interface ResolvedComfyWorkflow {
  readonly workflow: JsonObject;
  readonly files: readonly TargetFile[];
}

/** A file among the inputs. */
interface TargetFile {
  /** `<node id>.<input name>`. */
  readonly target: string;
  /** The field as the caller wrote it. */
  readonly field: string;
  readonly input: { readonly url: string } | { readonly fileId: string };
}

/**
 * Throws BAD_USER_INPUT naming the input or the node. `saved` is the saved graph of that name, which stands for none of the bundled
 * ones. Pure.
 */
export function resolveComfyWorkflow(
  request: ComfyRequest,
  saved: ComfyWorkflow | null = null,
): ResolvedComfyWorkflow {
  const { workflow = null, workflowName, inputs = null } = request;
  const hasName = workflowName !== null && workflowName !== undefined;
  if ((workflow !== null) === hasName) {
    throw badInput('workflow', 'give exactly one of workflow and workflowName');
  }
  if (inputs !== null && !isObject(inputs)) throw badInput('inputs', 'inputs must be an object');
  if (!hasName) return resolveGraph(workflow, inputs ?? {});
  return fill(saved ?? bundledNamed(workflowName), inputs ?? {});
}

function bundledNamed(name: string): ComfyWorkflow {
  const bundled = comfyWorkflows.find((workflow) => workflow.name === name);
  if (bundled === undefined) {
    const known = comfyWorkflows.map((workflow) => workflow.name).join(', ');
    throw badInput('workflowName', `there is no comfy workflow of that name; known are ${known}`);
  }
  return bundled;
}

/** A named graph with the values of its inputs in their places. */
function fill(bundled: ComfyWorkflow, inputs: JsonObject): ResolvedComfyWorkflow {
  refuseUnknown(bundled, inputs);
  const values: Placed[] = [];
  const files: TargetFile[] = [];
  for (const [key, declared] of Object.entries(bundled.inputs)) {
    const field = `inputs.${key}`;
    const sent = Object.hasOwn(inputs, key) ? inputs[key] : null;
    const value = sent ?? declared.default ?? null;
    if (value === null) {
      if (declared.required) throw badInput(field, `${field} is needed: ${declared.description}`);
    } else if (declared.type === 'file') {
      const input = toInputFile(value, field);
      files.push(...declared.at.map((target) => ({ target, field, input })));
    } else {
      const checked = checkedValue(value, declared, field);
      values.push(...declared.at.map((target) => ({ target, value: checked })));
    }
  }
  return { workflow: filled(bundled.workflow as Graph, values), files };
}

function refuseUnknown({ inputs: declared, name }: ComfyWorkflow, inputs: JsonObject): void {
  const unknown = Object.keys(inputs).find((key) => !Object.hasOwn(declared, key));
  if (unknown === undefined) return;
  const known = Object.keys(declared).join(', ');
  throw badInput(`inputs.${unknown.slice(0, 100)}`, `${name} has no such input; it takes ${known}`);
}

/** A value as its input takes it. BAD_USER_INPUT naming the field. */
export function checkedValue(
  value: Json,
  declared: Omit<DeclaredInput, 'at' | 'description'>,
  field: string,
): string | number | boolean {
  const { type, minimum = -Infinity, maximum = Infinity, multipleOf = 1, values } = declared;
  if (type === 'boolean') {
    if (typeof value !== 'boolean') throw badInput(field, `${field} must be true or false`);
    return value;
  }
  if (type === 'text') {
    if (typeof value !== 'string') throw badInput(field, `${field} must be a text`);
    if (declared.required && value.trim() === '') throw badInput(field, `${field} must not be empty`);
    if (values !== undefined && !values.includes(value)) {
      throw badInput(field, `${field} must be one of ${values.join(', ')}`);
    }
    return value;
  }
  const isRight = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (typeof value !== 'number' || !isRight)
    throw badInput(field, `${field} must be a ${describeType(type)}`);
  if (value < minimum || value > maximum) {
    throw badInput(field, `${field} must be from ${minimum} to ${maximum}`);
  }
  if (type === 'integer' && value % multipleOf !== 0) {
    throw badInput(field, `${field} must be a multiple of ${multipleOf}`);
  }
  return value;
}

function describeType(type: DeclaredInput['type']): string {
  return type === 'integer' ? 'whole number' : 'number';
}

/** A whole graph; `inputs` replaces values at `<node id>.<input name>`. */
function resolveGraph(value: unknown, inputs: JsonObject): ResolvedComfyWorkflow {
  const graph = checkedGraph(value);
  const values: Placed[] = [];
  const files: TargetFile[] = [];
  for (const [target, value] of Object.entries(inputs)) {
    const field = `inputs.${target.slice(0, 100)}`;
    const [id, key] = splitTarget(target);
    const node = Object.hasOwn(graph, id) ? graph[id] : undefined;
    if (node === undefined || key === '') {
      throw badInput(field, `${field} is no input of this workflow: write "<node id>.<input name>"`);
    }
    if (isObject(value) || (isAddress(value) && LOADERS[node.class_type] === key)) {
      files.push({ target, field, input: toInputFile(value, field) });
    } else values.push({ target, value });
  }
  const workflow = filled(graph, values);
  const replaced = new Set(files.map(({ target }) => target));
  const linked = linkedFiles(workflow).filter(({ target }) => !replaced.has(target));
  return { workflow, files: [...files, ...linked] };
}

/** Addresses at the loaders of a graph: ComfyUI takes names of its own files only, so they are handed over first. */
function linkedFiles(graph: Graph): readonly TargetFile[] {
  return Object.entries(graph).flatMap(([id, { class_type: classType, inputs }]) => {
    const key = Object.hasOwn(LOADERS, classType) ? (LOADERS[classType] ?? '') : '';
    const value = inputs[key];
    if (!isAddress(value)) return [];
    return [{ target: `${id}.${key}`, field: `workflow.${id}.inputs.${key}`, input: { url: value } }];
  });
}

interface Placed {
  readonly target: string;
  readonly value: Json;
}

/** A copy of the graph with the values in their places. Each node is copied once, however many values it takes. */
function filled(graph: Graph, values: readonly Placed[]): Graph {
  const byNode = Map.groupBy(values, ({ target }) => splitTarget(target)[0]);
  const nodes = Object.entries(graph).map(([id, node]) => {
    const entries =
      byNode.get(id)?.map(({ target, value }) => [splitTarget(target)[1], value] as const) ?? [];
    return [id, { ...node, inputs: { ...node.inputs, ...Object.fromEntries(entries) } }] as const;
  });
  return Object.fromEntries(nodes);
}

/** Node ids have no dot, but for those of sub-graphs, which use a colon. */
function splitTarget(target: string): readonly [string, string] {
  const dot = target.indexOf('.');
  return dot === -1 ? [target, ''] : [target.slice(0, dot), target.slice(dot + 1)];
}

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//i.test(value);
}

/** An address, an id of a file of ours, or an object that says which of both. */
function toInputFile(value: Json, field: string): TargetFile['input'] {
  if (typeof value === 'string') return isUuid(value) ? { fileId: value } : { url: value };
  if (isObject(value) && Object.keys(value).length === 1) {
    if (typeof value['url'] === 'string') return { url: value['url'] };
    if (typeof value['fileId'] === 'string') return { fileId: value['fileId'] };
  }
  throw badInput(field, `${field} must be a file: its address or id, { "url": ... } or { "fileId": ... }`);
}
