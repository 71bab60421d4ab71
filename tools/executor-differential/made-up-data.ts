import {
  GraphQLError,
  isAbstractType,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLAbstractType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql';

import type { Facts } from './facts.ts';
import { hashParts } from './hash.ts';

/**
 * Values that follow from where they are (entity, field, arguments, what was required), not from when or how often they
 * are asked for: two executors that ask differently must still answer alike.
 */
export interface MadeUpData {
  /** The value of a field, or what it fails with. */
  fieldValue(place: FieldPlace): unknown;
  /** The entity of a representation; null when this subgraph knows none. */
  findEntity(typeName: string, representation: Readonly<Record<string, unknown>>): Identity | null;
}

/** An object: which one of its type it is, and what the asker told about it. */
export interface Identity {
  readonly __typename: string;
  readonly n: number;
  readonly given?: Readonly<Record<string, unknown>>;
  /** Where it was met: one entity says different things at different places. */
  readonly place?: number;
}

interface FieldPlace {
  readonly parent: string;
  readonly field: string;
  readonly type: GraphQLOutputType;
  readonly source: Identity | undefined;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** How many root fields of a mutation have run: what is read afterwards says something else. */
  readonly changes: number;
}

/** Few, so that the same entity is met again and again. */
const ENTITIES_OF_A_TYPE = 5;
const PLACES = 3;

export function createMadeUpData(from: {
  readonly subgraph: string;
  readonly schema: GraphQLSchema;
  readonly facts: Facts;
}): MadeUpData {
  const { subgraph, schema, facts } = from;

  const makeObject = (typeName: string, seed: readonly unknown[]): Identity => {
    if (facts.listKeyPaths(typeName).length === 0) return { __typename: typeName, n: hashParts(seed) };
    const forms = facts.listForms(typeName);
    const index = hashParts(seed) % ENTITIES_OF_A_TYPE;
    const form = forms.indexOf(typeName);
    // A subgraph that takes the interface for an object does not know which form it is.
    return {
      __typename: typeName,
      n: index * forms.length + (form < 0 ? hashParts(seed, 'form') % forms.length : form),
      place: hashParts(seed, 'place') % PLACES,
    };
  };
  const makeAbstract = (type: GraphQLAbstractType, seed: readonly unknown[]): Identity | null => {
    const known = schema.getPossibleTypes(type).map(({ name }) => name);
    const names =
      isInterfaceType(type) && facts.listKeyPaths(type.name).length > 0 ? facts.listForms(type.name) : known;
    const name = names[hashParts(seed, 'form') % names.length] ?? '';
    return known.includes(name) ? makeObject(name, seed) : null;
  };
  const makeLeaf = (typeName: string, values: readonly unknown[], seed: readonly unknown[]): unknown => {
    const n = hashParts(seed) % 90;
    if (values.length > 0) return values[n % values.length];
    const known: Readonly<Record<string, unknown>> = {
      Int: n,
      Float: n / 4,
      Boolean: n % 2 === 0,
      ID: `id-${n % ENTITIES_OF_A_TYPE}`,
      JSON: [{ a: n, b: [1, { c: null }] }, [n], n, 'text'][n % 4],
    };
    return known[typeName] ?? `${typeName}-${n}`;
  };
  const makeValue = (type: GraphQLOutputType, seed: readonly unknown[], nullable = true): unknown => {
    if (isNonNullType(type)) return makeValue(type.ofType, seed, false);
    if (nullable && hashParts(seed, 'null') % 8 === 0) return null;
    if (isListType(type)) {
      const length = hashParts(seed, 'length') % 4;
      return Array.from({ length }, (_, index) => makeValue(type.ofType, [...seed, index]));
    }
    if (isEnumType(type))
      return makeLeaf(
        type.name,
        type.getValues().map(({ name }) => name),
        seed,
      );
    if (isLeafType(type)) return makeLeaf(type.name, [], seed);
    if (isAbstractType(type))
      return makeAbstract(type, seed) ?? (nullable ? null : firstForm(schema, type, makeObject, seed));
    return makeObject(type.name, seed);
  };
  const keyValue = ({ parent, field, type, source }: FieldPlace): unknown => {
    const path = facts.listKeyPaths(parent).find(([top]) => top === field);
    if (path === undefined || source === undefined) return undefined;
    const named = isNonNullType(type) ? type.ofType : type;
    if (isObjectType(named)) return { __typename: named.name, n: source.n };
    return String(named) === 'Int' ? source.n : `${field}-${source.n}`;
  };

  return {
    fieldValue(place) {
      const { parent, field, type, source, arguments: given, changes } = place;
      // Within a key every leaf says which entity it is, also those of objects that are no entities themselves.
      const key = keyValue(place) ?? leafOfKey(place);
      if (key !== undefined) return key;
      const required = facts.requiredBy(subgraph, parent, field).map((name) => source?.given?.[name]);
      const asker = facts.isCommon(parent, field) ? '' : subgraph;
      const seed = [asker, parent, source?.n ?? 'root', source?.place, field, given, required, changes];
      if (hashParts(seed, 'fails') % 70 === 0) {
        throw new GraphQLError(`no ${parent}.${field}`, { extensions: { code: 'UNAVAILABLE' } });
      }
      return makeValue(type, seed);
    },
    findEntity(typeName, representation) {
      const n = numberIn(representation, facts.listKeyPaths(typeName));
      // Not an error, which would be one of the whole fetch: how many entities that has is each executor's own business.
      if (n === null) return null;
      if (hashParts('gone', subgraph, typeName, n) % 23 === 0) return null;
      const forms = facts.listForms(typeName);
      const type = schema.getType(typeName);
      const name = isInterfaceType(type) ? (forms[n % forms.length] ?? typeName) : typeName;
      // The same for every fetch that names it alike, however many representations it holds.
      return { __typename: name, n, given: representation, place: hashParts(representation) % PLACES };
    },
  };
}

/** Objects that are only ever parts of keys (`office { code }`) have the number of their entity. */
function leafOfKey({ parent, field, source, type }: FieldPlace): unknown {
  if (source === undefined || !['Brand', 'Office'].includes(parent)) return undefined;
  return String(type) === 'Int!' ? source.n : `${field}-${source.n}`;
}

function firstForm(
  schema: GraphQLSchema,
  type: GraphQLAbstractType,
  buildObject: (name: string, seed: readonly unknown[]) => Identity,
  seed: readonly unknown[],
): Identity {
  return buildObject(schema.getPossibleTypes(type)[0]?.name ?? '', seed);
}

/** Which entity a representation means: every value of a key ends with its number. */
function numberIn(
  representation: Readonly<Record<string, unknown>>,
  paths: readonly (readonly string[])[],
): number | null {
  for (const path of paths) {
    let value: unknown = representation;
    for (const step of path) value = (value as Record<string, unknown> | null | undefined)?.[step];
    const digits = /(\d+)$/.exec(String(value))?.[1];
    if (digits !== undefined) return Number(digits);
  }
  return null;
}
