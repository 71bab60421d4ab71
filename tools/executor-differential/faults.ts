import { GraphQLError, type ExecutionResult } from 'graphql';

import { mapStream, isStream } from '../../platform/graphql/operations/streams.ts';
import type { SubgraphLink, SubgraphRequest } from '../../platform/graphql/operations/subgraph.ts';
import { hashParts } from './hash.ts';

/**
 * Spoils what subgraphs answer. What is spoilt follows from the seed and from what is asked (the subgraph, the entity,
 * the path below it), not from how many representations one fetch has, in which order fetches come, or what else a fetch
 * requires of the entity: one executor asks once where the other asks twice.
 */
export interface Faults {
  readonly seed: number;
  /** How many of a thousand fields are spoilt; 0 leaves everything as it is. */
  readonly perThousand: number;
}

/** A link to the subgraph of this SDL whose answers are spoilt as `faults()` says at the time. */
export function faultyLink(
  { name, sdl }: { readonly name: string; readonly sdl: string },
  link: SubgraphLink,
  faults: () => Faults,
): SubgraphLink {
  const keys = keyNames(sdl);
  const spoil = (result: ExecutionResult, request: SubgraphRequest): ExecutionResult =>
    faults().perThousand === 0 ? result : spoiltResult(result, { name, keys, request, faults: faults() });
  return {
    ...link,
    execute: async (request) => spoil(await link.execute(request), request),
    async subscribe(request) {
      const started = await link.subscribe(request);
      if (!isStream<ExecutionResult>(started)) return started;
      return mapStream<ExecutionResult, ExecutionResult>({
        source: started,
        map: (event) => spoil(event, request),
        failed: (thrown) => ({ errors: [new GraphQLError(String(thrown))] }),
      });
    },
  };
}

/** The names in the subgraph's keys, of all its types; they are few enough to take them together. */
function keyNames(sdl: string): ReadonlySet<string> {
  const keys = [...sdl.matchAll(/@key\(fields: "([^"]*)"/g)].map(([, fields = '']) => fields);
  return new Set(['__typename', ...keys.flatMap((fields) => fields.match(/\w+/g) ?? [])]);
}

interface Place {
  readonly name: string;
  readonly keys: ReadonlySet<string>;
  readonly request: SubgraphRequest;
  readonly faults: Faults;
}

interface Spoiling {
  /** A number for a path below what is asked, the same in both executors. */
  readonly draw: (path: readonly (string | number)[], what: string) => number;
  readonly errors: GraphQLError[];
  readonly perThousand: number;
}

type Members = Record<string | number, unknown>;

function spoiltResult(result: ExecutionResult, { name, keys, request, faults }: Place): ExecutionResult {
  const { seed, perThousand } = faults;
  if (hashParts(seed, name, 'down') % 4_000 < perThousand) {
    return { errors: [new GraphQLError('down', { extensions: { code: 'UNAVAILABLE' } })] };
  }
  const data = structuredClone(result.data);
  const errors = [...(result.errors ?? [])];
  const { representations } = request.variables;
  const drawFor =
    (about: unknown): Spoiling['draw'] =>
    (path, what) =>
      hashParts(seed, name, about, path, what);
  if (data !== null && data !== undefined) {
    if (hashParts(seed, name, 'shape') % 6_000 < perThousand) return { ...result, data: misshapen(data) };
    if (Array.isArray(data['_entities'])) {
      const entities = (representations as readonly Members[]).map((representation) =>
        Object.fromEntries(Object.entries(representation).filter(([member]) => keys.has(member))),
      );
      spoilEntities(data['_entities'], entities, {
        drawFor,
        errors,
        perThousand,
      });
    } else spoil(data, [], [], { draw: drawFor(request.variables), errors, perThousand });
  }
  return errors.length === 0 ? { data: data ?? null } : { errors, data: data ?? null };
}

/** Entities that are no list, or one too few. */
function misshapen(data: Members): Members {
  const entities = data['_entities'];
  if (!Array.isArray(entities)) return data;
  return { _entities: entities.length % 2 === 0 ? null : entities.slice(1) };
}

function spoilEntities(
  entities: unknown[],
  representations: readonly unknown[],
  {
    drawFor,
    errors,
    perThousand,
  }: Omit<Spoiling, 'draw'> & { drawFor: (about: unknown) => Spoiling['draw'] },
): void {
  for (const [index, entity] of entities.entries()) {
    if (typeof entity !== 'object' || entity === null) continue;
    const draw = drawFor(representations[index]);
    if (draw([], 'entity') % 2_000 < perThousand) {
      entities[index] = null;
      errors.push(
        new GraphQLError('no entity', { path: ['_entities', index], extensions: { code: 'NOT_FOUND' } }),
      );
    } else spoil(entity as Members, ['_entities', index], [], { draw, errors, perThousand });
  }
}

/** Spoils the members of an object or list: `path` is where it stands in the answer, `below` what the draw depends on. */
function spoil(
  value: Members | unknown[],
  path: readonly (string | number)[],
  below: readonly (string | number)[],
  spoiling: Spoiling,
): void {
  const members = value as Members;
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value).toSorted();
  for (const key of keys) {
    const inner = [...below, key];
    if (spoiling.draw(inner, 'whether') % 1_000 < spoiling.perThousand) {
      spoilMember(members, key, [...path, key], { ...spoiling, kind: spoiling.draw(inner, 'kind') % 8 });
      continue;
    }
    const member = members[key];
    if (typeof member === 'object' && member !== null)
      spoil(member as Members, [...path, key], inner, spoiling);
  }
}

function spoilMember(
  members: Members,
  key: string | number,
  path: (string | number)[],
  { kind, errors }: Spoiling & { readonly kind: number },
): void {
  const value = members[key];
  const error = (message: string, extensions = {}) =>
    void errors.push(new GraphQLError(message, { path, extensions }));
  if (key === '__typename') {
    if (kind === 0) members[key] = 'Nothing';
    if (kind === 1) delete members[key];
    return;
  }
  switch (kind) {
    case 0:
    case 1:
      members[key] = null;
      return error(`no ${key}`, { code: kind === 0 ? 'UNAVAILABLE' : 'INTERNAL', reason: 7 });
    case 2:
    case 3:
      members[key] = null;
      return;
    case 4:
      if (Array.isArray(members)) members[key] = null;
      else delete members[key];
      return;
    case 5:
      members[key] = otherKind(value);
      return;
    case 6:
      return error('');
    default:
      errors.push(new GraphQLError('nowhere in particular'));
  }
}

function otherKind(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? {} : value.slice(1);
  if (typeof value === 'object') return 'text';
  return typeof value === 'string' ? 7.5 : 'text';
}
