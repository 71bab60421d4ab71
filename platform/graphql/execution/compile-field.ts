import {
  defaultFieldResolver,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
} from 'graphql';

import { argumentReader } from './arguments.ts';
import type { Compiling } from './collect-fields.ts';
import { compileCompleter, createFailure, settler, type CompletedField } from './complete.ts';
import { quickResolver } from './entities.ts';
import type { Path, Run } from './run.ts';
import { leafCompleter } from './value-completion.ts';

/** Resolves a field of an object and completes its value; throws only when the field must not be null. */
export type ExecuteField = (run: Run, source: unknown, parent: Path | undefined) => unknown;

/** A field of an object of one runtime type. */
export interface FieldToCompile {
  readonly name: string;
  readonly nodes: readonly FieldNode[];
  readonly parentType: GraphQLObjectType;
  readonly executeObject: CompletedField['executeObject'];
}

/** Compiles a field; null when its type has no such field, which is then left out as graphql-js does. */
export function compileField(field: FieldToCompile, compiling: Compiling): ExecuteField | null {
  const { nodes, parentType } = field;
  const [node] = nodes;
  if (node?.name.value === '__typename') return () => parentType.name;
  const definition = parentType.getFields()[node?.name.value ?? ''];
  if (node === undefined || definition === undefined) return null;
  const whole = { ...field, node, definition };
  return definition.resolve === undefined ? memberField(whole, compiling) : resolvedField(whole, compiling);
}

interface WholeField extends FieldToCompile {
  readonly node: FieldNode;
  readonly definition: GraphQLField<unknown, unknown>;
}

/** A field with a resolver. */
function resolvedField(field: WholeField, compiling: Compiling): ExecuteField {
  const { name, parentType, definition } = field;
  const { failed, settle, createInfo, argumentsFor } = createParts(field, compiling);
  const resolve = quickResolver(definition) ?? defaultFieldResolver;
  const typename = parentType.name;
  return (run, source, parent) => {
    const path: Path = { prev: parent, key: name, typename };
    try {
      return settle(run, path, resolve(source, argumentsFor(run), run.contextValue, createInfo(run, path)));
    } catch (thrown) {
      return failed(run, path, thrown);
    }
  };
}

/** A field without a resolver: a member of its object, or a method. Most are leaves, for which nothing else is made. */
function memberField(field: WholeField, compiling: Compiling): ExecuteField {
  const { name, parentType, definition } = field;
  const { failed, settle, createInfo, argumentsFor } = createParts(field, compiling);
  const { name: member, type } = definition;
  const leaf = leafCompleter(type) ?? (() => undefined);
  const typename = parentType.name;
  return (run, source, parent) => {
    let path: Path | undefined;
    try {
      let value = isObjectLike(source) ? source[member] : undefined;
      const completed = leaf(value);
      if (completed !== undefined) return completed;
      path = { prev: parent, key: name, typename };
      if (typeof value === 'function') {
        value = (source as Methods)[member]?.(argumentsFor(run), run.contextValue, createInfo(run, path));
      }
      return settle(run, path, value);
    } catch (thrown) {
      return failed(run, path ?? { prev: parent, key: name, typename }, thrown);
    }
  };
}

function isObjectLike(source: unknown): source is Record<string, unknown> {
  return typeof source === 'object' ? source !== null : typeof source === 'function';
}

type Methods = Record<string, (values: object, context: unknown, info: GraphQLResolveInfo) => unknown>;

/** What both kinds of fields are made of. */
function createParts(
  { nodes, node, parentType, definition, executeObject }: WholeField,
  { nextNumber }: Compiling,
) {
  const { type, name: fieldName } = definition;
  const createInfo = (run: Run, path: Path) =>
    resolveInfo(run, { definition, nodes, parentType }, fieldPath(path));
  const failed = createFailure(type, nodes);
  const complete = compileCompleter(type, {
    parentName: parentType.name,
    fieldName,
    nodes,
    createInfo,
    executeObject,
  });
  const argumentsFor = argumentReader(definition, node, nextNumber);
  return { failed, settle: settler(complete, failed), createInfo, argumentsFor };
}

/** The field that an element of its list belongs to. */
function fieldPath(path: Path): Path {
  let place = path;
  while (typeof place.key === 'number' && place.prev !== undefined) place = place.prev;
  return place;
}

function resolveInfo(
  { schema, fragments, rootValue, operation, variableValues }: Run,
  {
    definition,
    nodes,
    parentType,
  }: {
    definition: GraphQLField<unknown, unknown>;
    nodes: readonly FieldNode[];
    parentType: GraphQLObjectType;
  },
  path: Path,
): GraphQLResolveInfo {
  return {
    fieldName: definition.name,
    fieldNodes: nodes,
    returnType: definition.type,
    parentType,
    path,
    schema,
    fragments,
    rootValue,
    operation,
    variableValues,
  };
}
