import {
  type CompositeType,
  isCompositeType,
  isObjectType,
  isSubtype,
  type OutputType,
  type Schema,
  type SelectionSet,
  typenameFieldName,
  isCustomScalarType,
  isEnumType,
} from '@apollo/federation-internals';

import { type Conditions, isLeftOut, deviate, type Members, type Shape, compileShape } from './shapes.ts';

/** What all shapes of one operation under the same conditions share. */
export interface ShapeContext {
  readonly schema: Schema;
  readonly conditions: Conditions;
  readonly nextNumber: () => number;
}

/**
 * The shape of an object: its fields are collected once for each runtime type. `sets` are the selections of all fields
 * that answer under one name.
 */
export function objectShape(
  sets: readonly SelectionSet[],
  type: CompositeType,
  context: ShapeContext,
): Shape {
  const byTypename = new Map<string | undefined, Shape>();
  let lastTypename: unknown = deviate;
  let lastShape: Shape = deviate;
  return (value, shaping) => {
    if (typeof value !== 'object' || Array.isArray(value)) return deviate();
    const typename = (value as Members)[typenameFieldName];
    if (typename === lastTypename) return lastShape(value, shaping);
    if (typename !== undefined && typeof typename !== 'string') return deviate();
    let shape = byTypename.get(typename);
    if (shape === undefined) {
      shape = shapeFor(typename, { sets, type, context });
      byTypename.set(typename, shape);
    }
    lastTypename = typename;
    lastShape = shape;
    return shape(value, shaping);
  };
}

interface Requested {
  readonly sets: readonly SelectionSet[];
  readonly type: CompositeType;
  readonly context: ShapeContext;
}

/** An object that does not say its type is taken for the type of its field, as Apollo does. */
function shapeFor(typename: string | undefined, { sets, type, context }: Requested): Shape {
  if (typename === undefined || typename === '')
    return fieldsShape(sets, { parent: type, runtime: null, context });
  const runtime = context.schema.type(typename);
  // Unbounded names would be unbounded memory: those of no type are not cached.
  if (runtime === undefined || !isCompositeType(runtime)) return deviate();
  return fieldsShape(sets, { parent: runtime, runtime, context });
}

interface Place {
  readonly parent: CompositeType;
  /** The type that the object says it has. */
  readonly runtime: CompositeType | null;
  readonly context: ShapeContext;
}

/** All selections that answer under one name. */
interface Group {
  readonly name: string;
  /** Null for `__typename`. */
  readonly type: OutputType | null;
  readonly sets: SelectionSet[];
  /** The types that `__typename` was selected on. */
  readonly parents: Set<CompositeType>;
}

function fieldsShape(sets: readonly SelectionSet[], place: Place): Shape {
  const groups = new Map<string, Group>();
  for (const set of sets) collect(set, place.parent, { place, groups });
  const fields = [...groups.values()].map((group): WrittenField => {
    const { name, type, sets: inner } = group;
    if (type === null) return { name, shape: typenameShape(group, place) };
    const { context } = place;
    const shaping = {
      objectShape: (of: CompositeType) => objectShape(inner, of, context),
      leafShape,
      nextNumber: context.nextNumber,
    };
    return { name, shape: compileShape(type, shaping) };
  });
  return objectWriter(fields);
}

function collect(
  set: SelectionSet,
  parent: CompositeType,
  into: { readonly place: Place; readonly groups: Map<string, Group> },
): void {
  const { place, groups } = into;
  const { schema, conditions } = place.context;
  for (const selection of set.selections()) {
    if (isLeftOut(selection, schema, conditions)) continue;
    if (selection.kind === 'FragmentSelection') {
      const { typeCondition } = selection.element;
      if (typeCondition !== undefined && !isSubtype(typeCondition, place.runtime ?? parent)) continue;
      collect(selection.selectionSet, typeCondition ?? parent, into);
      continue;
    }
    const { element } = selection;
    const type = element.name === typenameFieldName ? null : (element.definition.type as OutputType);
    // An own member of this name can't be written in a literal; introspection is graphql-js's.
    if (element.responseName() === '__proto__' || element.definition.isSchemaIntrospectionField()) deviate();
    const name = element.responseName();
    const group = groups.get(name) ?? { name, type, sets: [], parents: new Set() };
    groups.set(name, group);
    if (String(group.type) !== String(type)) deviate();
    group.parents.add(parent);
    if (selection.selectionSet !== undefined) group.sets.push(selection.selectionSet);
  }
}

/** Constant, as the fields are collected for one type; a name that is no object type's deviates. */
function typenameShape({ name, parents }: Group, { runtime }: Place): Shape {
  const [only, ...others] = runtime === null ? parents : [runtime];
  if (only === undefined || others.length > 0 || !isObjectType(only)) return deviate;
  const typename = only.name;
  if (name === typenameFieldName) return () => typename;
  return (value) => (value === undefined || value === null || value === typename ? typename : deviate());
}

/** A member of an answer's object: its name, and how its value is made. */
interface WrittenField {
  readonly name: string;
  readonly shape: Shape;
}

/**
 * The shape that makes an object with these members, in this order. It is generated with an object literal, because all
 * its objects then have one hidden class: they are made several times as fast as member by member, and written as JSON
 * faster as well. The names are those of a parsed document (letters, digits, underscores), written as string literals.
 */
function objectWriter(fields: readonly WrittenField[]): Shape {
  const members = fields.map(({ name }, at) => {
    const literal = JSON.stringify(name);
    const value = `value[${literal}]`;
    // A name that every object inherits is only there when it is the object's own.
    const own = name in Object.prototype ? `(hasOwn(value, ${literal}) ? ${value} : undefined)` : value;
    return `${literal}: s${at}(${own}, shaping)`;
  });
  const source = `return (value, shaping) => ({ ${members.join(', ')} });`;
  // oxlint-disable-next-line typescript/no-implied-eval -- see above
  const make = new Function('hasOwn', ...fields.map((_field, at) => `s${at}`), source) as (
    hasOwn: (value: Members, name: string) => boolean,
    ...shapes: Shape[]
  ) => Shape;
  return make(Object.hasOwn, ...fields.map(({ shape }) => shape));
}

/** A value of a leaf type as it is, null for null; anything that Apollo would not let pass deviates. */
function leafShape(type: OutputType): Shape {
  if (isCustomScalarType(type as never)) return (value) => (value === undefined ? null : value);
  if (isEnumType(type)) return enumShape(new Set(type.values.map(({ name }) => name)));
  return 'name' in type ? (SCALARS[type.name] ?? deviate) : deviate;
}

function enumShape(values: ReadonlySet<unknown>): Shape {
  return (value) => (values.has(value) ? value : noValue(value));
}

/** Null for null and for what was left out; anything else is no value of its type. */
function noValue(value: unknown): null {
  return value === undefined || value === null ? null : deviate();
}

// Numbers from here on are written with an exponent, which Apollo takes for no integer.
const LARGE = 1e21;

function isInteger(value: unknown): boolean {
  return Number.isInteger(value) && Math.abs(value as number) < LARGE;
}

/** Each a function of its own, so that V8 can inline it where it is used. */
const SCALARS: Readonly<Record<string, Shape>> = {
  Boolean: (value) => (typeof value === 'boolean' ? value : noValue(value)),
  Int: (value) => (isInteger(value) ? value : noValue(value)),
  Float: (value) => (Number.isFinite(value) ? value : noValue(value)),
  ID: (value) => (typeof value === 'string' || isInteger(value) ? value : noValue(value)),
  String: (value) => (typeof value === 'string' ? value : noValue(value)),
};
