import type { Json } from '../../../../platform/json.ts';
import { CLASSES, type InputType } from './classes.ts';
import { orderFrom, type Graph, type GraphNode, readSlot } from './graph.ts';
import { toInputConfig, typeName, without } from './object-info.ts';

/** ComfyUI's validation of a graph (execution.py, validate_prompt), with its messages. */
export type Verdict =
  | { readonly error: object; readonly nodeErrors: object }
  | { readonly outputs: readonly string[]; readonly nodeErrors: object };

/** Accepts a graph with at least one valid output; errors of the others are reported too. */
export async function validate(graph: Graph, machine: Machine): Promise<Verdict> {
  for (const [id, node] of graph) {
    const isThere = Object.hasOwn(CLASSES, node.classType) && !machine.lacking.has(node.classType);
    if (!isThere) return { error: missingClass(id, node), nodeErrors: {} };
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
    const found = await findProblems(node, graph, machine);
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
  const ofEnds = ends.flatMap((end) => problems.get(end) ?? []);
  const details = ofEnds.map((one) => `${one.message}: ${one.details}`).join('\n');
  return {
    error: { type: 'prompt_outputs_failed_validation', message, details, extra_info: {} },
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

/** What a machine has besides its classes. */
interface Machine {
  readonly hasFile: (name: string) => Promise<boolean>;
  /** Node classes and model files that are not installed. */
  readonly lacking: ReadonlySet<string>;
}

/** One wrong input of a node, in ComfyUI's words (execution.py, validate_inputs). */
interface NodeProblem {
  readonly type: string;
  readonly message: string;
  readonly details: string;
  readonly extra_info: object;
}

interface Input {
  readonly name: string;
  readonly type: InputType;
  readonly value: Json;
}

/** Everything that is wrong with a node's inputs. */
async function findProblems(
  { classType, inputs }: GraphNode,
  graph: Graph,
  { hasFile, lacking }: Machine,
): Promise<readonly NodeProblem[]> {
  const found: NodeProblem[] = [];
  for (const [name, full] of Object.entries(CLASSES[classType]?.inputs ?? {})) {
    const type = without(full, lacking);
    const value = inputs[name];
    if (value === undefined) {
      found.push({
        type: 'required_input_missing',
        message: 'Required input is missing',
        details: name,
        extra_info: { input_name: name },
      });
      continue;
    }
    const input = { name, type, value };
    const wrong = Array.isArray(value) ? linkProblem(input, graph) : valueProblem(input);
    if (wrong !== null) found.push(wrong);
    else if (type === 'FILE' && typeof value === 'string' && !(await hasFile(value))) {
      found.push(
        problem(input, {
          type: 'custom_validation_failed',
          message: 'Custom validation failed for node',
          details: `${name} - Invalid image file: ${value}`,
        }),
      );
    }
  }
  return found;
}

function linkProblem(input: Input, graph: Graph): NodeProblem | null {
  const { name, type, value } = input;
  const link = readSlot(value);
  const source = link === null ? undefined : graph.get(link.node);
  if (link === null || source === undefined) {
    const message = 'Bad linked input, must be a length-2 list of [node_id, slot_index]';
    return problem(input, { type: 'bad_linked_input', message, details: name });
  }
  const received = CLASSES[source.classType]?.outputs[link.slot];
  if (received === undefined) {
    const message = 'Exception when validating inner node';
    return problem(input, {
      type: 'exception_during_inner_validation',
      message,
      details: 'tuple index out of range',
    });
  }
  const wanted = typeName(type);
  if (wanted === '*' || wanted === received) return null;
  return {
    type: 'return_type_mismatch',
    message: 'Return type mismatch between linked nodes',
    details: `${name}, received_type(${received}) mismatch input_type(${wanted})`,
    extra_info: {
      input_name: name,
      input_config: toInputConfig(type),
      received_type: received,
      linked_node: value,
    },
  };
}

function valueProblem(input: Input): NodeProblem | null {
  const { name, type, value } = input;
  if (type === 'ANY' || type === 'FILE' || type === 'STRING' || value === null) return null;
  // A value in the place of a link is not checked; the node fails when it runs.
  if ('link' in type) return null;
  if ('list' in type) {
    if (typeof value === 'string' && type.list.includes(value)) return null;
    const list = `[${type.list.map((one) => `'${one}'`).join(', ')}]`;
    const shown = type.list.length > 20 ? `(list of length ${type.list.length})` : list;
    const details = `${name}: '${typeof value === 'string' ? value : JSON.stringify(value)}' not in ${shown}`;
    return problem(input, { type: 'value_not_in_list', message: 'Value not in list', details });
  }
  const number = typeof value === 'object' ? Number.NaN : Number(value);
  if (!Number.isFinite(number)) {
    const message = `Failed to convert an input value to a ${type.number} value`;
    const shown = typeof value === 'string' ? value : JSON.stringify(value);
    const reason = `invalid literal for int() with base 10: '${shown}'`;
    return problem(input, {
      type: 'invalid_input_type',
      message,
      details: `${name}, ${shown}, ${reason}`,
    });
  }
  if (number < type.min) {
    const message = `Value ${number} smaller than min of ${type.min}`;
    return problem(input, { type: 'value_smaller_than_min', message, details: name });
  }
  if (number > type.max) {
    const message = `Value ${number} bigger than max of ${type.max}`;
    return problem(input, { type: 'value_bigger_than_max', message, details: name });
  }
  return null;
}

function problem(
  { name, type, value }: Input,
  words: { readonly type: string; readonly message: string; readonly details: string },
): NodeProblem {
  return {
    ...words,
    extra_info: { input_name: name, input_config: toInputConfig(type), received_value: value },
  };
}
