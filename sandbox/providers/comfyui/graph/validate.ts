import { CLASSES } from './classes.ts';
import { orderFrom } from './graph.ts';
import type { Graph, GraphNode } from './graph.ts';
import { findProblems } from './node-problems.ts';
import type { Machine, NodeProblem } from './node-problems.ts';

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
