import type { Json } from '../../../platform/json.ts';
import { CLASSES } from './classes.ts';
import type { InputType } from './classes.ts';
import { linkOf, orderFrom } from './graph.ts';
import type { Graph, GraphNode } from './graph.ts';

/** ComfyUI's validation of a graph (execution.py, validate_prompt), with its messages. */
export type Verdict =
  | { readonly error: object; readonly nodeErrors: object }
  | { readonly outputs: readonly string[]; readonly nodeErrors: object };

interface NodeProblem {
  readonly type: string;
  readonly message: string;
  readonly details: string;
  readonly extra_info: object;
}

/** Accepts a graph with at least one valid output; errors of the others are reported too. */
export async function validate(graph: Graph, hasFile: (name: string) => Promise<boolean>): Promise<Verdict> {
  for (const [id, node] of graph) {
    if (!Object.hasOwn(CLASSES, node.classType)) return { error: missingClass(id, node), nodeErrors: {} };
  }
  const ends = [...graph].flatMap(([id, { classType }]) =>
    CLASSES[classType]?.isOutput === true ? [id] : [],
  );
  if (ends.length === 0) {
    const error = {
      type: 'prompt_no_outputs',
      message: 'Prompt has no outputs',
      details: '',
      extra_info: {},
    };
    return { error, nodeErrors: {} };
  }
  const problems = new Map<string, readonly NodeProblem[]>();
  for (const [id, node] of graph) {
    const found = await problemsOf(node, graph, hasFile);
    if (found.length > 0) problems.set(id, found);
  }
  const reach = new Map(ends.map((end) => [end, orderFrom(graph, [end])]));
  const outputs = ends.filter((end) => reach.get(end)?.every((id) => !problems.has(id)) ?? false);
  const nodeErrors = Object.fromEntries(
    [...problems].flatMap(([id, errors]) => {
      const dependent = ends.filter((end) => reach.get(end)?.includes(id) ?? false);
      // A node that no output depends on is not validated.
      if (dependent.length === 0) return [];
      return [[id, { errors, dependent_outputs: dependent, class_type: graph.get(id)?.classType }]];
    }),
  );
  if (outputs.length > 0) return { outputs, nodeErrors };
  const message = 'Prompt outputs failed validation';
  return {
    error: { type: 'prompt_outputs_failed_validation', message, details: '', extra_info: {} },
    nodeErrors,
  };
}

function missingClass(id: string, { classType, title }: GraphNode): object {
  const name = title ?? classType;
  const message =
    classType === ''
      ? `Node '${title ?? `ID #${id}`}' has no class_type. The workflow may be corrupted or a custom node is missing.`
      : `Node '${name}' not found. The custom node may not be installed.`;
  return {
    type: 'missing_node_type',
    message,
    details: `Node ID '#${id}'`,
    extra_info: { node_id: id, class_type: classType === '' ? null : classType, node_title: name },
  };
}

async function problemsOf(
  { classType, inputs }: GraphNode,
  graph: Graph,
  hasFile: (name: string) => Promise<boolean>,
): Promise<readonly NodeProblem[]> {
  const found: NodeProblem[] = [];
  for (const [name, type] of Object.entries(CLASSES[classType]?.inputs ?? {})) {
    const value = inputs[name];
    if (value === undefined || value === null) {
      found.push(problem('required_input_missing', 'Required input is missing', { name, details: name }));
      continue;
    }
    const link = linkOf(value);
    if (link !== null) {
      if (!graph.has(link))
        found.push(problem('bad_linked_input', 'Linked node is not there', { name, value }));
      continue;
    }
    const wrong = valueProblem(type, name, value);
    if (wrong !== null) found.push(wrong);
    else if (type === 'FILE' && typeof value === 'string' && !(await hasFile(value))) {
      const details = `${name} - Invalid image file: ${value}`;
      const message = 'Custom validation failed for node';
      found.push(problem('custom_validation_failed', message, { name, value, details }));
    }
  }
  return found;
}

function valueProblem(type: InputType, name: string, value: Json): NodeProblem | null {
  if (type === 'LINK') {
    const message = 'Bad linked input, must be a length-2 list of [node_id, slot_index]';
    return problem('bad_linked_input', message, { name, value });
  }
  if (type === 'STRING' || type === 'FILE') {
    if (typeof value === 'string') return null;
    return problem('invalid_input_type', `Failed to convert an input value to a STRING value`, {
      name,
      value,
    });
  }
  const number = typeof value === 'object' || typeof value === 'boolean' ? Number.NaN : Number(value);
  if (!Number.isFinite(number)) {
    const message = `Failed to convert an input value to a ${type.number} value`;
    return problem('invalid_input_type', message, { name, value });
  }
  if (number < type.min) {
    const message = `Value ${number} smaller than min of ${type.min}`;
    return problem('value_smaller_than_min', message, { name, value, details: name });
  }
  if (number > type.max) {
    const message = `Value ${number} bigger than max of ${type.max}`;
    return problem('value_bigger_than_max', message, { name, value, details: name });
  }
  return null;
}

function problem(
  type: string,
  message: string,
  { name, value, details }: { readonly name: string; readonly value?: Json; readonly details?: string },
): NodeProblem {
  return {
    type,
    message,
    details: details ?? `${name}, ${JSON.stringify(value)}`,
    extra_info: { input_name: name, ...(value === undefined ? {} : { received_value: value }) },
  };
}
