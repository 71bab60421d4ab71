import type { QueryPlanSelectionNode } from '@apollo/query-planner';
import type { ExecutionResult, GraphQLSchema } from 'graphql';

import type { MergeMembers } from './merge.ts';
import { compileRepresentation, namesUnder } from './representations.ts';
import { isInherited, memberReader } from './response-path.ts';
import type { Members } from './shape/shapes.ts';

/** The entities that one fetch requests, and the response. */
export interface EntityBatch {
  readonly representations: Members[];
  /** Resolves when `result` is there; never rejects. */
  answer: Promise<unknown>;
  result: ExecutionResult | null;
}

/** A requested entity: its index in a batch. */
export interface RequestedEntity {
  readonly batch: EntityBatch;
  readonly index: number;
  /** Whether its answer may stand at several places. */
  isShared: boolean;
  /** The names of the members to take, where a fetch that asked for more has requested it; null for all. */
  readonly taken: ReadonlySet<string> | null;
  /** What was answered for it; undefined until it was looked for. */
  received: ReceivedEntity | undefined;
}

/** An answered entity, the names of its members, the objects and lists among them, and what merges them where all are leaves. */
export type ReceivedEntity =
  | 'nothing'
  | 'no object'
  | {
      readonly members: Members;
      readonly names: readonly string[];
      readonly parts: readonly unknown[];
      readonly mergeLeaves: MergeMembers | null;
    };

/**
 * The entities requested with one cache key, found by the values that their representations hold, one after the other: most
 * objects are found equal to one before without a representation or a text being made of them.
 */
export interface KnownEntities {
  readonly start: EntityPlace;
  size: number;
}

/** Where the values so far lead to. */
export interface EntityPlace {
  /** By the next value; null where there was none yet. */
  next: Map<unknown, EntityPlace> | null;
  /** The entity with exactly these values. */
  entity: RequestedEntity | null;
}

/** Finds the place of an object among the known ones, and makes it; null when a required part is missing. */
export type EntityLocator = (object: unknown, start: EntityPlace) => EntityPlace | null;

export function noEntities(): KnownEntities {
  return { start: emptyPlace(), size: 0 };
}

function emptyPlace(): EntityPlace {
  return { next: null, entity: null };
}

/**
 * Compiles the search for the representations of a fetch; places are comparable only under the same `requires`. It is generated,
 * so that each place in it reads one name of objects of one hidden class.
 */
export function compileEntityLocator(
  selections: readonly QueryPlanSelectionNode[],
  schema: GraphQLSchema,
): EntityLocator {
  const constants: unknown[] = [];
  const constant = (value: unknown): string => `c${constants.push(value) - 1}`;
  const search = selections.map((selection) => generateSelection(selection, { schema, constant })).join('\n');
  const source = `return (object, place) => { if (object === null) return null; ${search} return place; };`;
  const names = constants.map((_constant, at) => `c${at}`);
  // oxlint-disable-next-line typescript/no-implied-eval -- see above
  const make = new Function('leafAfter', 'after', ...names, source) as (...parts: unknown[]) => EntityLocator;
  return make(leafAfter, after, ...constants);
}

interface CodeContext {
  readonly schema: GraphQLSchema;
  /** Makes a value known to the code; answers its name. */
  readonly constant: (value: unknown) => string;
}

/** Stands for values that no leaf has: a part that is not there, one that is, and one whose text follows. */
const NO_PART = Symbol('no part');
const PART = Symbol('part');
const TEXT = Symbol('text');

/** Code that moves `place` on by what a selection takes of `object`, and answers null where a part is missing. */
function generateSelection(selection: QueryPlanSelectionNode, { schema, constant }: CodeContext): string {
  if (selection.kind === 'Field') {
    const responseName = selection.alias ?? selection.name;
    const literal = constant(responseName);
    const copySelected = selection.selections && constant(compileRepresentation([selection], schema));
    const value =
      copySelected !== undefined
        ? `${copySelected}(object)?.[${literal}]`
        : isInherited(responseName)
          ? `${constant(memberReader(responseName))}(object)`
          : `object[${JSON.stringify(responseName)}]`;
    return `place = leafAfter(place, ${value}); if (place === null) return null;`;
  }
  const { typeCondition } = selection;
  if (typeCondition === undefined) return '';
  const names = constant(namesUnder(typeCondition, schema));
  const inner = constant(compileEntityLocator(selection.selections, schema));
  const isMeant = `object && ${names}.has(object.__typename)`;
  return `place = (${isMeant} ? ${inner}(object, after(place, ${constant(PART)})) : null) ?? after(place, ${constant(NO_PART)});`;
}

/** Undefined is no value: nothing comes after it. */
function leafAfter(place: EntityPlace, value: unknown): EntityPlace | null {
  if (value === undefined) return null;
  if (typeof value !== 'object' || value === null) return after(place, value);
  return after(after(place, TEXT), JSON.stringify(value));
}

function after(place: EntityPlace, value: unknown): EntityPlace {
  place.next ??= new Map();
  const there = place.next.get(value);
  if (there !== undefined) return there;
  const made = emptyPlace();
  place.next.set(value, made);
  return made;
}

/**
 * The entities requested in one run of a query, by cache key (subgraph, selection): each is requested once, also
 * while the response is pending. Not in a mutation, where a later root field changes what an earlier one read.
 */
export type EntityCache = ReturnType<typeof createEntityCache>;

/** Most entities of one key; beyond that they are requested anew. */
const MAX_ENTITIES = 50_000;

export function createEntityCache() {
  const byKey = new Map<string, KnownEntities>();
  return {
    of(cacheKey: string): KnownEntities {
      const known = byKey.get(cacheKey);
      if (known !== undefined && known.size < MAX_ENTITIES) return known;
      const fresh = noEntities();
      byKey.set(cacheKey, fresh);
      return fresh;
    },
  };
}
