import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionSetNode,
} from 'graphql';

/** The size of a document with its fragments unfolded, each walked only once. */
export interface DocumentShape {
  /** Operations in the document. */
  operations: number;
  /** Depth of nested fields, without introspection. */
  depth: number;
  /** Number of aliases. */
  aliases: number;
  /** Root fields of the operation that has most. */
  rootFields: number;
  /** All fields, fragments unfolded. */
  fields: number;
  /** Those that are planned: all but introspection. */
  plannedFields: number;
  /** Fields with selections of their own, each counted as often as it is deep, fragments unfolded: the time of planning grows with it. */
  levels: number;
  /** Depth of nested introspection lists (`fields`, `interfaces`, ...). */
  introspectionDepth: number;
}

interface Measures {
  readonly depth: number;
  readonly aliases: number;
  readonly ownFields: number;
  readonly fields: number;
  readonly plannedFields: number;
  /** Fields with selections of their own. */
  readonly parents: number;
  readonly levels: number;
  readonly introspectionDepth: number;
}

const NOTHING: Measures = {
  depth: 0,
  aliases: 0,
  ownFields: 0,
  fields: 0,
  plannedFields: 0,
  parents: 0,
  levels: 0,
  introspectionDepth: 0,
};
const INTROSPECTION_LISTS = new Set(['fields', 'interfaces', 'possibleTypes', 'inputFields']);

/** Measures a parsed document without a schema, in linear time. */
export function measureDocument(document: DocumentNode): DocumentShape {
  const measure = createMeasure(document);
  const shape: DocumentShape = {
    operations: 0,
    depth: 0,
    aliases: 0,
    rootFields: 0,
    fields: 0,
    plannedFields: 0,
    levels: 0,
    introspectionDepth: 0,
  };
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const found = measure(definition.selectionSet);
    shape.operations += 1;
    shape.depth = Math.max(shape.depth, found.depth);
    shape.rootFields = Math.max(shape.rootFields, found.ownFields);
    shape.introspectionDepth = Math.max(shape.introspectionDepth, found.introspectionDepth);
    shape.aliases += found.aliases;
    shape.fields += found.fields;
    shape.plannedFields += found.plannedFields;
    shape.levels += found.levels;
  }
  return shape;
}

function createMeasure(document: DocumentNode): (selectionSet: SelectionSetNode) => Measures {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const known = new Map<string, Measures>();

  function measureFragment(name: string): Measures {
    const found = known.get(name);
    if (found !== undefined) return found;
    const fragment = fragments.get(name);
    // A fragment that spreads itself counts as nothing; validation refuses it.
    known.set(name, NOTHING);
    const measured = fragment === undefined ? NOTHING : measureSelections(fragment.selectionSet);
    known.set(name, measured);
    return measured;
  }

  function measureField(field: FieldNode): Measures {
    const inside = field.selectionSet === undefined ? NOTHING : measureSelections(field.selectionSet);
    const name = field.name.value;
    const isMeta = name.startsWith('__');
    const isParent = Number(field.selectionSet !== undefined);
    return {
      depth: isMeta ? 1 : inside.depth + 1,
      aliases: inside.aliases + (field.alias !== undefined && field.alias.value !== name ? 1 : 0),
      ownFields: 1,
      fields: inside.fields + 1,
      plannedFields: isMeta ? 0 : inside.plannedFields + 1,
      parents: isMeta ? 0 : inside.parents + isParent,
      // Each parent inside is one level deeper here.
      levels: isMeta ? 0 : inside.levels + inside.parents + isParent,
      introspectionDepth: inside.introspectionDepth + (INTROSPECTION_LISTS.has(name) ? 1 : 0),
    };
  }

  function measureSelections(selectionSet: SelectionSetNode): Measures {
    return selectionSet.selections
      .map((selection) => {
        if (selection.kind === Kind.FIELD) return measureField(selection);
        if (selection.kind === Kind.INLINE_FRAGMENT) return measureSelections(selection.selectionSet);
        return measureFragment(selection.name.value);
      })
      .reduce(beside, NOTHING);
  }

  return measureSelections;
}

function beside(left: Measures, right: Measures): Measures {
  return {
    depth: Math.max(left.depth, right.depth),
    aliases: left.aliases + right.aliases,
    ownFields: left.ownFields + right.ownFields,
    fields: left.fields + right.fields,
    plannedFields: left.plannedFields + right.plannedFields,
    parents: left.parents + right.parents,
    levels: left.levels + right.levels,
    introspectionDepth: Math.max(left.introspectionDepth, right.introspectionDepth),
  };
}

/** What of a new document counts as one point of the class `plan`: the time of planning grows with each of them. */
const CHARACTERS_PER_POINT = 1_000;
const FIELDS_PER_POINT = 50;
const LEVELS_PER_POINT = 10;

/** Points of a text for its length, which are counted before it is parsed. */
export function countTextPoints(query: string): number {
  return Math.ceil(query.length / CHARACTERS_PER_POINT);
}

/** Further points of a document for what planning it takes; introspection is not planned. */
export function countFieldPoints(document: DocumentNode): number {
  const { plannedFields, levels } = measureDocument(document);
  return Math.floor(plannedFields / FIELDS_PER_POINT + levels / LEVELS_PER_POINT);
}
