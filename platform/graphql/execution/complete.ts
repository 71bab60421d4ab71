import {
  defaultTypeResolver,
  GraphQLError,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  locatedError,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
} from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';

import { isPromise, type Path, type Run } from './run.ts';
import { createSerializer, runtimeType } from './value-completion.ts';

/** Turns what a resolver returned into the response's value: at once, or a promise of it. Throws what is wrong with it. */
export type Complete = (run: Run, path: Path, value: unknown) => unknown;

/** The field whose values are completed. */
export interface CompletedField {
  readonly parentName: string;
  readonly fieldName: string;
  readonly nodes: readonly FieldNode[];
  /** What resolvers are told of the field; made when one is called. */
  readonly createInfo: (run: Run, path: Path) => GraphQLResolveInfo;
  /** Executes the fields of an object. */
  readonly executeObject: (run: Run, type: GraphQLObjectType, source: unknown, path: Path) => unknown;
}

/** The completion of values of a type. */
export function compileCompleter(type: GraphQLOutputType, field: CompletedField): Complete {
  if (isNonNullType(type)) return completeNonNull(compileCompleter(type.ofType, field), field);
  const complete = completeThere(type, field);
  return (run, path, value) => {
    if (value === null || value === undefined) return null;
    if (value instanceof Error) throw value;
    return complete(run, path, value);
  };
}

function completeNonNull(inner: Complete, { parentName, fieldName }: CompletedField): Complete {
  const checked = (completed: unknown): unknown => {
    if (completed !== null) return completed;
    throw new Error(`Cannot return null for non-nullable field ${parentName}.${fieldName}.`);
  };
  // A promise is never null: what it resolves to has been checked, as its own fields are.
  return (run, path, value) => checked(inner(run, path, value));
}

function completeThere(type: Exclude<GraphQLOutputType, { ofType: never }>, field: CompletedField): Complete {
  if (isListType(type)) return completeList(type.ofType, field);
  if (isLeafType(type)) {
    const serialize = createSerializer(type);
    return (_run, _path, value) => serialize(value);
  }
  if (isAbstractType(type)) return completeAbstract(type, field);
  if (isObjectType(type)) return (run, path, value) => completeObject(type, field, { run, path, value });
  throw new Error(`no way to complete a value of ${inspect(type)}`);
}

function completeList(elementType: GraphQLOutputType, field: CompletedField): Complete {
  const failed = createFailure(elementType, field.nodes);
  const settle = settler(compileCompleter(elementType, field), failed);
  const completeElement = (run: Run, path: Path, element: unknown): unknown => {
    try {
      return settle(run, path, element);
    } catch (thrown) {
      return failed(run, path, thrown);
    }
  };
  return (run, path, value) => {
    const { parentName, fieldName } = field;
    if (!isIterable(value)) {
      throw new GraphQLError(
        `Expected Iterable, but did not find one for field "${parentName}.${fieldName}".`,
      );
    }
    const completed: unknown[] = [];
    let isPending = false;
    try {
      for (const element of value) {
        const elementPath: Path = { prev: path, key: completed.length, typename: undefined };
        const one = completeElement(run, elementPath, element);
        if (isPromise(one)) isPending = true;
        completed.push(one);
      }
    } catch (thrown) {
      // Nobody waits for the others any more; their rejections must not be unhandled.
      void Promise.allSettled(Array.isArray(value) ? [...completed, ...(value as unknown[])] : completed);
      throw thrown;
    }
    return isPending ? Promise.all(completed) : completed;
  };
}

function isIterable(value: unknown): value is Iterable<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  return typeof (value as Partial<Iterable<unknown>>)[Symbol.iterator] === 'function';
}

/** Completes what may still be a promise, and may become one. Only what nobody has to wait for is thrown. */
export function settler(complete: Complete, failed: Failure): Complete {
  const settle: Complete = (run, path, value) => {
    if (!isPromise(value)) {
      const completed = complete(run, path, value);
      if (!isPromise(completed)) return completed;
      return completed.then(undefined, (thrown) => failed(run, path, thrown));
    }
    const settleThere = (there: unknown): unknown => {
      try {
        return settle(run, path, there);
      } catch (thrown) {
        return failed(run, path, thrown);
      }
    };
    return value.then(settleThere, (thrown) => failed(run, path, thrown));
  };
  return settle;
}

/** Says what becomes of a member that failed: null with its error, or throws the error on to what it is in. */
export type Failure = (run: Run, path: Path, thrown: unknown) => null;

export function createFailure(type: GraphQLOutputType, nodes: readonly FieldNode[]): Failure {
  const isNullable = !isNonNullType(type);
  return (run, path, thrown) => {
    const error = locatedError(thrown, nodes, pathToArray(path));
    if (!isNullable) throw error;
    run.errors.add(error, path);
    return null;
  };
}

function pathToArray(path: Path): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let place: Path | undefined = path; place !== undefined; place = place.prev) keys.push(place.key);
  return keys.toReversed();
}

function completeAbstract(type: GraphQLAbstractType, field: CompletedField): Complete {
  const resolveType = type.resolveType ?? defaultTypeResolver;
  const known = new Map<unknown, GraphQLObjectType>();
  const findRuntimeType = (name: unknown, value: unknown, { schema }: Run): GraphQLObjectType => {
    const resolved = known.get(name) ?? runtimeType(name, value, { schema, type, field });
    known.set(name, resolved);
    return resolved;
  };
  return (run, path, value) => {
    const name =
      resolveType === defaultTypeResolver && isNamed(value)
        ? value.__typename
        : (resolveType(value, run.contextValue, field.createInfo(run, path), type) as unknown);
    if (!isPromise(name))
      return completeObject(findRuntimeType(name, value, run), field, { run, path, value });
    return name.then((there) =>
      completeObject(findRuntimeType(there, value, run), field, { run, path, value }),
    );
  };
}

/** Whether the default resolver of types finds the name of its type in it, for which it needs nothing else. */
function isNamed(value: unknown): value is { readonly __typename: string } {
  if (typeof value !== 'object' || value === null) return false;
  return typeof (value as { readonly __typename?: unknown }).__typename === 'string';
}

function completeObject(
  type: GraphQLObjectType,
  field: CompletedField,
  { run, path, value }: { readonly run: Run; readonly path: Path; readonly value: unknown },
): unknown {
  const { isTypeOf } = type;
  if (isTypeOf === null || isTypeOf === undefined) return field.executeObject(run, type, value, path);
  const complete = (is: boolean): unknown => {
    if (is) return field.executeObject(run, type, value, path);
    const message = `Expected value of type "${type.name}" but got: ${inspect(value)}.`;
    throw new GraphQLError(message, { nodes: field.nodes });
  };
  const is = type.isTypeOf?.(value, run.contextValue, field.createInfo(run, path));
  return isPromise(is) ? is.then(complete) : complete(Boolean(is));
}
