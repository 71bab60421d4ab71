import type { JsonObject } from '../../../../platform/json.ts';
import { UpstreamError } from '../../domain/failure.ts';
import { errorOfStatus, type ExchangeAnswer } from '../shared/exchange.ts';
import { refusalOf, type NodeErrors } from './wire.ts';

/** Why a server refused a graph, naming the node, its class and its input. Pure. */

const MAX_NAMED = 5;
const MAX_LENGTH = 1_000;

/** A graph that was refused as a whole (HTTP 400). */
export function refusedGraph(answer: ExchangeAnswer, graph: JsonObject): UpstreamError {
  const refusal = refusalOf(answer);
  if (refusal === null) {
    const message = 'comfyui: the graph was refused';
    return errorOfStatus(answer, message) ?? new UpstreamError('INVALID_INPUT', message);
  }
  const { error, node_errors: errors } = refusal;
  if (Object.keys(errors).length > 0) return brokenNodes(errors, graph);
  const id = error.extra_info?.node_id ?? /Node ID '#([^']+)'/.exec(error.details ?? '')?.[1] ?? null;
  const reason = [error.message, error.details].filter(Boolean).join(': ');
  if (id === null) return invalid('workflow', reason || 'the graph was refused');
  const nodeClass = error.extra_info?.class_type ?? classIn(graph, id);
  return invalid(`workflow.${id}.class_type`, `node ${id} (${nodeClass}): ${error.message ?? reason}`);
}

/** Nodes of a graph that can't run; the field is the first one's. */
export function brokenNodes(errors: NodeErrors, graph: JsonObject): UpstreamError {
  const problems = Object.entries(errors).flatMap(([id, { class_type: nodeClass, errors: own }]) =>
    own.map(({ message, details, extra_info: info }) => {
      const input = info?.input_name ?? null;
      const place = `workflow.${id}`;
      return {
        field: input === null ? place : `${place}.inputs.${input}`,
        text: `node ${id} (${nodeClass ?? classIn(graph, id)}): ${[message, details].filter(Boolean).join(': ')}`,
      };
    }),
  );
  const more = problems.length > MAX_NAMED ? `; and ${problems.length - MAX_NAMED} more` : '';
  const text = problems.slice(0, MAX_NAMED).map((one) => one.text);
  const [first] = Object.keys(errors);
  return invalid(
    problems[0]?.field ?? `workflow.${first ?? ''}`,
    (text.join('; ') || 'the graph was refused') + more,
  );
}

function classIn(graph: JsonObject, id: string): string {
  const node = Object.hasOwn(graph, id) ? graph[id] : null;
  const isNode = typeof node === 'object' && node !== null && 'class_type' in node;
  return isNode && typeof node.class_type === 'string' ? node.class_type : 'unknown class';
}

function invalid(field: string, text: string): UpstreamError {
  const message = `comfyui: ${text}`.slice(0, MAX_LENGTH);
  return new UpstreamError('INVALID_INPUT', message, { field: field.slice(0, 200) });
}
