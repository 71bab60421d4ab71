import type { QueryPlanSelectionNode } from '@apollo/query-planner';
import type { ExecutionResult, GraphQLSchema } from 'graphql';

import { compileRepresentation, namesUnder } from './representations.ts';
import { memberReader } from './response-path.ts';
import type { Members } from './shape/merged.ts';

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
}

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
export type PlaceOf = (object: unknown, start: EntityPlace) => EntityPlace | null;

export function noEntities(): KnownEntities {
  return { start: emptyPlace(), size: 0 };
}

function emptyPlace(): EntityPlace {
  return { next: null, entity: null };
}

/** Compiles the search for the representations of a fetch; places are comparable only under the same `requires`. */
export function compilePlaceOf(
  selections: readonly QueryPlanSelectionNode[],
  schema: GraphQLSchema,
): PlaceOf {
  const parts = selections.map((selection) => compilePart(selection, schema));
  return (object, start) => {
    if (object === null) return null;
    let place: EntityPlace | null = start;
    for (const part of parts) {
      place = part(object as Members, place);
      if (place === null) return null;
    }
    return place;
  };
}

type Part = (object: Members, place: EntityPlace) => EntityPlace | null;

/** Stands for values that no leaf has: a part that is not there, and one whose text follows. */
const NO_PART = Symbol('no part');
const PART = Symbol('part');
const TEXT = Symbol('text');

function compilePart(selection: QueryPlanSelectionNode, schema: GraphQLSchema): Part {
  if (selection.kind === 'Field') {
    const responseName = selection.alias ?? selection.name;
    const read = memberReader(responseName);
    if (selection.selections === undefined) return (object, place) => leafAfter(place, read(object));
    const copyOf = compileRepresentation([selection], schema);
    return (object, place) => {
      const copy = copyOf(object);
      return copy === null ? null : leafAfter(place, copy[responseName]);
    };
  }
  const { typeCondition } = selection;
  if (typeCondition === undefined) return (_object, place) => place;
  const names = namesUnder(typeCondition, schema);
  const inner = compilePlaceOf(selection.selections, schema);
  return (object, place) => {
    const isMeant = Boolean(object) && names.has(object['__typename']);
    return (isMeant ? inner(object, after(place, PART)) : null) ?? after(place, NO_PART);
  };
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
