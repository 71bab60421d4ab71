import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import { type ExecutionResult, GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';

import type { Caller } from '../../platform/access/caller.ts';
import type { RequestContext } from '../../platform/graphql/operations/executor.ts';
import type { SubgraphLink, SubgraphRequest } from '../../platform/graphql/operations/subgraph.ts';

/** Which entities of a subgraph are kept. */
export interface EntityCacheRule {
  readonly subgraph: string;
  /** Seconds for types that have none of their own; 0: not kept. */
  readonly maxAgeSeconds: number;
  /** Seconds by type. */
  readonly types: Readonly<Record<string, number>>;
  /** What the subgraph learns of a caller, whose entities are for those alone who say the same; null: entities are everybody's. */
  readonly readIdentity: ((context: RequestContext) => string) | null;
  /** Called for each requested entity. */
  readonly count: (outcome: 'hit' | 'miss') => void;
}

/** The entities that one gateway keeps, of all subgraphs. */
export type EntityCache = ReturnType<typeof createEntityCache>;

interface NamedEntity {
  readonly subgraph: string;
  readonly representation: Representation;
}

interface KeptEntity extends NamedEntity {
  /** As JSON: whoever gets it may change it. */
  readonly text: string;
}

type Representation = Readonly<Record<string, unknown>> & { readonly __typename: string };

const BYTES_PER_ENTRY = 300;
/** Most callers of whom is known that they wrote something. */
const MAX_WRITERS = 10_000;
const MUTATION = /\bmutation\b/;

/** Makes the cache, of at most so many estimated bytes. */
export function createEntityCache(maxBytes: number) {
  const kept = new LRUCache<string, KeptEntity>({
    maxSize: maxBytes,
    sizeCalculation: ({ text }, key) => text.length + key.length + BYTES_PER_ENTRY,
  });
  // Requests that write, whose own reads must see it; and how often each caller has written.
  const writing = new WeakSet<Caller>();
  const writes = new LRUCache<string, number>({ max: MAX_WRITERS });
  // Entities on their way; an invalidation removes them, so that an answer from before it is not kept.
  const asking = new Set<NamedEntity>();

  function invalidate(subgraph: string, { typename, key }: Invalidation): void {
    const isMeant = (entity: NamedEntity): boolean =>
      entity.subgraph === subgraph &&
      (typename === null || entity.representation.__typename === typename) &&
      Object.entries(key).every(([name, value]) => isDeepStrictEqual(entity.representation[name], value));
    for (const [at, entity] of kept.entries()) if (isMeant(entity)) kept.delete(at);
    for (const entity of asking) if (isMeant(entity)) asking.delete(entity);
  }

  return {
    /** The same link, which asks only for entities that are not kept. */
    over(link: SubgraphLink, rule: EntityCacheRule): SubgraphLink {
      const { subgraph } = rule;
      const asked = async (request: SubgraphRequest): Promise<ExecutionResult> => {
        const result = await link.execute(request);
        for (const one of readInvalidations(result)) invalidate(subgraph, one);
        return result;
      };
      return {
        ...link,
        async execute(request) {
          const { caller } = request.context;
          const identity = rule.readIdentity?.(request.context) ?? '';
          if (MUTATION.test(request.query)) {
            writing.add(caller);
            // What is everybody's is forgotten by its time, or when the subgraph says so.
            if (rule.readIdentity !== null) writes.set(identity, (writes.get(identity) ?? 0) + 1);
            return await asked(request);
          }
          const representations = findRepresentations(request);
          if (representations === null || writing.has(caller)) return await asked(request);
          const whose = [identity, writes.get(identity) ?? 0] as const;
          return await fetchMissing({ kept, asking, rule, asked, request, representations, whose });
        },
      };
    },
  };
}

interface Missing {
  readonly kept: LRUCache<string, KeptEntity>;
  readonly asking: Set<NamedEntity>;
  readonly rule: EntityCacheRule;
  readonly asked: SubgraphLink['execute'];
  readonly request: SubgraphRequest;
  readonly representations: readonly Representation[];
  /** What tells callers apart. */
  readonly whose: readonly unknown[];
}

interface MissingEntity extends NamedEntity {
  /** Under which it is kept. */
  readonly key: string;
  /** Among all that are asked for. */
  readonly index: number;
}

/** Asks for the entities that are not kept, and keeps them; the answer has all. */
async function fetchMissing(missed: Missing): Promise<ExecutionResult> {
  const { asking, asked, request, representations } = missed;
  const { known, missing } = findKept(missed);
  if (missing.length === 0) return { data: { _entities: known } };
  for (const one of missing) asking.add(one);
  try {
    const rest = missing.map(({ representation }) => representation);
    const result = await asked({ ...request, variables: { ...request.variables, representations: rest } });
    const entities = readEntities(result, missing.length);
    // It failed: what is kept is given, what was asked for has the error.
    if (entities === null && missing.length === representations.length) return result;
    for (const [at, one] of missing.entries()) {
      const entity = entities?.[at];
      known[one.index] = entity ?? null;
      if (result.errors === undefined) keep(missed, one, entity);
    }
    const errors = result.errors && { errors: moved(result.errors, missing) };
    return { ...result, ...errors, data: { _entities: known } };
  } finally {
    for (const one of missing) asking.delete(one);
  }
}

/** What is kept of the entities that are asked for, each at its place, and those that are not kept. */
function findKept({ kept, rule, request, representations, whose }: Missing) {
  const { subgraph } = rule;
  const { representations: _all, ...variables } = request.variables;
  const common = hash([subgraph, request.query, variables, whose]);
  const missing: MissingEntity[] = [];
  const known = representations.map((representation, index): unknown => {
    const key = `${common} ${JSON.stringify(representation)}`;
    const found = kept.get(key);
    rule.count(found === undefined ? 'miss' : 'hit');
    if (found !== undefined) return JSON.parse(found.text);
    missing.push({ key, index, subgraph, representation });
    return null;
  });
  return { known, missing };
}

/** Keeps an entity that has come, for as long as its rule says, unless it was forgotten meanwhile. */
function keep({ kept, asking, rule }: Missing, one: MissingEntity, entity: unknown): void {
  const { key, subgraph, representation } = one;
  const seconds = rule.types[representation.__typename] ?? rule.maxAgeSeconds;
  if (seconds === 0 || !asking.has(one) || typeof entity !== 'object' || entity === null) return;
  kept.set(key, { subgraph, representation, text: JSON.stringify(entity) }, { ttl: seconds * 1_000 });
}

/** The entities of an answer; null where it failed. Throws at another number than was asked for: whose each is can't be known. */
function readEntities({ data }: ExecutionResult, count: number): readonly unknown[] | null {
  const entities: unknown = data?.['_entities'] ?? null;
  if (entities === null) return null;
  if (Array.isArray(entities) && entities.length === count) return entities;
  throw new Error(`Expected "data._entities" to contain ${count} elements`);
}

/** The representations of a fetch of entities and nothing else. */
function findRepresentations({ variables }: SubgraphRequest): readonly Representation[] | null {
  const { representations } = variables;
  return Array.isArray(representations) ? (representations as readonly Representation[]) : null;
}

/** Errors at the places that their entities have among all. */
function moved(
  errors: NonNullable<ExecutionResult['errors']>,
  missing: readonly MissingEntity[],
): NonNullable<ExecutionResult['errors']> {
  return errors.map((error) => {
    const [root, at, ...further] = error.path ?? [];
    const index = typeof at === 'number' ? missing[at]?.index : undefined;
    if (root !== '_entities' || index === undefined) return error;
    const path = [root, index, ...further];
    return new GraphQLError(error.message, { path, extensions: error.extensions, originalError: error });
  });
}

function hash(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** Which kept entities of a subgraph are not true any more. */
interface Invalidation {
  /** Null: of any type. */
  readonly typename: string | null;
  /** Values of key fields; empty: all of the type. */
  readonly key: Readonly<Record<string, unknown>>;
}

/** Most that one answer may name. */
const MAX_INVALIDATIONS = 100;

/** What an answer says in `extensions.invalidation`: `{ kind: "entity", type, key }`, `{ kind: "type", type }` or `{ kind: "subgraph" }`. */
function readInvalidations({ extensions }: ExecutionResult): readonly Invalidation[] {
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
