import type { JsonObject } from '../../../../platform/json.ts';
import { UpstreamError } from '../../domain/failure.ts';
import { errorOfStatus, type ExchangeAnswer } from '../shared/exchange.ts';
import { parseRefusal, type NodeErrors } from './wire.ts';

/**
 * Why a prompt failed. Rule: a failure of the machine (out of memory, a lost connection, a broken GPU) may not happen
 * again and is retryable; every other exception is a node's own logic, which would fail again, and is final.
 */

/** Last part of the exception types that are the machine's, not the graph's. */
const OF_THE_MACHINE: ReadonlySet<string> = new Set([
  'OutOfMemoryError',
  'MemoryError',
  'AcceleratorError',
  'DistBackendError',
  'TimeoutError',
  'Timeout',
  'ReadTimeout',
  'ConnectTimeout',
  'ConnectionError',
  'ConnectionResetError',
  'ConnectionRefusedError',
  'ConnectionAbortedError',
  'BrokenPipeError',
  'ChunkedEncodingError',
  'ClientConnectorError',
  'ServerDisconnectedError',
]);

/** What PyTorch says in plain RuntimeErrors, where it has no type of its own for a failure of the machine. */
const MACHINE_MESSAGE = /^((CUDA|HIP) (error|out of memory)|MPS backend out of memory)/;

/** The error of a prompt's last messages; failure and interruption differ in the name of the last one only. */
export function toPromptError(
  messages: readonly (readonly [string, unknown, ...unknown[]])[],
): UpstreamError {
  const last = messages.findLast(([name]) => name === 'execution_error' || name === 'execution_interrupted');
  const details = (last?.[1] ?? {}) as Readonly<Record<string, unknown>>;
  const text = (name: string) => (typeof details[name] === 'string' ? details[name] : '?');
  const node = `node ${text('node_id')} (${text('node_type')})`;
  if (last?.[0] === 'execution_interrupted') {
    return new UpstreamError('UNAVAILABLE', `comfyui: interrupted at ${node}`, { retryable: false });
  }
  const [type, reason] = [text('exception_type'), text('exception_message')];
  const described = `comfyui: ${node} failed: ${type}: ${withoutPaths(reason)}`;
  const message = described.trim().slice(0, 500);
  if (last === undefined || isOfTheMachine(type, reason)) return new UpstreamError('UNAVAILABLE', message);
  return new UpstreamError('INVALID_INPUT', message, { field: `workflow.${text('node_id')}`.slice(0, 200) });
}

function isOfTheMachine(type: string, message: string): boolean {
  const name = type.split('.').at(-1) ?? type;
  return OF_THE_MACHINE.has(name) || (name === 'RuntimeError' && MACHINE_MESSAGE.test(message));
}

/** Why a server refused a graph, naming the node, its class and its input. Pure. */

const MAX_NAMED = 5;
const MAX_LENGTH = 1_000;

/** A graph that was refused as a whole (HTTP 400). */
export function refusedGraph(answer: ExchangeAnswer, graph: JsonObject): UpstreamError {
  const refusal = parseRefusal(answer);
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

/** A path in quotes, which may contain spaces. */
const QUOTED = /(['"`])(?:[A-Za-z]:[\\/]|\\\\|\/)[^'"`\n]*\1/g;
/** A Windows path; folders, but not the last name, may contain spaces. */
const WINDOWS = /(?<!\w)(?:[A-Za-z]:[\\/]|\\\\)(?:[^\\/\n'"`:*?<>|]+[\\/])*[^\s\\/'"`,;:)\]]*/g;
/** A Unix path with up to two spaces in a folder's name; no part of a URL, a fraction or "and/or". */
const UNIX = /(?<![\w:/.<-])\/(?:[^\s/'"`,;:]+(?: [^\s/'"`,;:]+){0,2}\/)*[^\s/'"`,;:)\]]+/g;

/** A message of a machine without the paths of its files: they say where it is installed, and under whose name. */
function withoutPaths(message: string): string {
  return message.replace(QUOTED, '[path]').replace(WINDOWS, '[path]').replace(UNIX, '[path]');
}
