import { isObject, type Json, type JsonObject } from '../../../../platform/json.ts';

/** A graph in ComfyUI's API format. */
export interface GraphNode {
  readonly classType: string;
  readonly inputs: JsonObject;
  readonly title: string | null;
}

/** A parsed graph: nodes by id. */
export type Graph = ReadonlyMap<string, GraphNode>;

/** Reads a graph; nodes without a class have the empty one. Null when it is no object of nodes. */
export function readGraph(value: unknown): Graph | null {
  if (!isObject(value)) return null;
  const graph = new Map<string, GraphNode>();
  for (const [id, node] of Object.entries(value)) {
    if (!isObject(node)) return null;
    const { class_type: classType, inputs, _meta: meta } = node;
    graph.set(id, {
      classType: typeof classType === 'string' ? classType : '',
      inputs: isObject(inputs) ? inputs : {},
      title: isObject(meta) && typeof meta['title'] === 'string' ? meta['title'] : null,
    });
  }
  return graph;
}

/** The node that an input is linked to; null when it is a value. */
export function findLinkedNode(value: Json | undefined): string | null {
  return readSlot(value)?.node ?? null;
}

/** The node and the number of its output that an input is linked to; null when it is a value. */
export function readSlot(value: Json | undefined): { readonly node: string; readonly slot: number } | null {
  if (!Array.isArray(value) || value.length !== 2) return null;
  const [node, slot] = value as readonly Json[];
  return typeof node === 'string' && typeof slot === 'number' ? { node, slot } : null;
}

/** A node and its dependencies, dependencies first. A cycle is cut where it closes. */
export function orderFrom(graph: Graph, ends: readonly string[]): readonly string[] {
  const order = new Set<string>();
  const entered = new Set<string>();
  const visit = (id: string): void => {
    if (entered.has(id)) return;
    entered.add(id);
    for (const value of Object.values(graph.get(id)?.inputs ?? {})) {
      const next = findLinkedNode(value);
      if (next !== null && graph.has(next)) visit(next);
    }
    order.add(id);
  };
  for (const id of ends) visit(id);
  return [...order];
}
