import {
  type CompositeType,
  isCompositeType,
  isObjectType,
  isSubtype,
  type OutputType,
  type Schema,
  type SelectionSet,
  typenameFieldName,
} from '@apollo/federation-internals';

import { type Conditions, isLeftOut } from './conditions.ts';
import { deviate } from './deviation.ts';
import { leafShape } from './leaves.ts';
import type { Members } from './merged.ts';
import { objectWriter, type WrittenField } from './object-writer.ts';
import { type Shape, shapeOf } from './shapes.ts';

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
    return { name, shape: shapeOf(type, shaping) };
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
