import { createHash } from 'node:crypto';

import { UpstreamError } from '../../domain/failure.ts';
import type { CallContext, Connection, Handle } from '../contract/provider.ts';

/**
 * What Kiln stores of a start: the server, the prompt's id there, and the classes of its nodes (to name the running
 * one).
 */
export interface PromptHandle {
  readonly node: string;
  readonly promptId: string;
  readonly classes: Readonly<Record<string, string>>;
  /** Number of nodes in the graph. */
  readonly size: number;
  /** The only nodes whose outputs count, in this order; absent: all. */
  readonly outputs?: readonly string[];
}

/** Most nodes whose classes are stored. */
const MAX_CLASSES = 300;

/** The handle of a started graph; without the graph (the prompt was found again) it holds no classes. */
export function createHandle(
  {
    node,
    promptId,
    outputs,
  }: Pick<PromptHandle, 'node' | 'promptId'> & {
    readonly outputs?: readonly string[] | undefined;
  },
  graph: Readonly<Record<string, unknown>> = {},
): Handle {
  const entries = Object.entries(graph);
  const classes = entries.slice(0, MAX_CLASSES).map(([id, node]) => [id, readClass(node)]);
  const facts = { node, promptId, classes: Object.fromEntries(classes), size: entries.length };
  return outputs === undefined ? facts : { ...facts, outputs: [...outputs] };
}

function readClass(node: unknown): string {
  const hasClass = typeof node === 'object' && node !== null && 'class_type' in node;
  return hasClass && typeof node.class_type === 'string' ? node.class_type : 'unknown';
}

/** Reads a handle. LOST when its server is no longer in the pool: it gets no request and no credentials. */
export function readHandle(handle: Handle, connection: Connection): PromptHandle {
  const { node, promptId, classes, size, outputs } = handle;
  if (typeof node !== 'string' || typeof promptId !== 'string') {
    throw new UpstreamError('LOST', 'comfyui: the handle names no prompt');
  }
  if (!listNodes(connection).includes(node)) {
    throw new UpstreamError('LOST', 'comfyui: its machine is no longer configured');
  }
  return {
    node,
    promptId,
    classes: (classes ?? {}) as Readonly<Record<string, string>>,
    size: typeof size === 'number' ? size : 0,
    ...(Array.isArray(outputs) && { outputs: outputs.map(String) }),
  };
}

/** The base URLs of the pool without trailing slashes; without a pool, the connection's own. */
export function listNodes({ nodes, baseUrl }: Connection): readonly string[] {
  const all = nodes.length === 0 ? [baseUrl] : nodes;
  return [...new Set(all.map((node) => node.replace(/\/+$/, '')))];
}

/** The same call context for one server. */
export function at<Context extends CallContext>(context: Context, node: string): Context {
  return { ...context, connection: { ...context.connection, baseUrl: node } };
}

/** A UUID (version 8) derived from the reference: the same reference gives the same UUID. */
export function derivePromptId(reference: string): string {
  const bytes = createHash('sha256').update(`comfyui ${reference}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
