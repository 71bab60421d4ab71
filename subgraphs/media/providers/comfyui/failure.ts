import { UpstreamError } from '../../domain/failure.ts';
import { withoutPaths } from './machines/without-paths.ts';

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
export function failureOf(messages: readonly (readonly [string, unknown, ...unknown[]])[]): UpstreamError {
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
