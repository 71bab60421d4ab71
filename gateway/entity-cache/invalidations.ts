import type { ExecutionResult } from 'graphql';

/** Which kept entities of a subgraph are not true any more. */
export interface Invalidation {
  /** Null: of any type. */
  readonly typename: string | null;
  /** Values of key fields; empty: all of the type. */
  readonly key: Readonly<Record<string, unknown>>;
}

/** Most that one answer may name. */
const MAX_INVALIDATIONS = 100;

/** What an answer says in `extensions.invalidation`: `{ kind: "entity", type, key }`, `{ kind: "type", type }` or `{ kind: "subgraph" }`. */
export function invalidationsOf({ extensions }: ExecutionResult): readonly Invalidation[] {
  const said: unknown = extensions?.['invalidation'];
  if (!Array.isArray(said)) return [];
  const named: readonly unknown[] = said;
  return named.slice(0, MAX_INVALIDATIONS).flatMap((one): readonly Invalidation[] => {
    const { kind, type, key } = Object(one) as Readonly<Record<string, unknown>>;
    if (kind === 'subgraph') return [{ typename: null, key: {} }];
    if (typeof type !== 'string') return [];
    return [{ typename: type, key: kind === 'entity' ? (Object(key) as Invalidation['key']) : {} }];
  });
}
