import type { FragmentDefinitionNode, GraphQLError, GraphQLSchema, OperationDefinitionNode } from 'graphql';

/** A place in the response, linked from the innermost member outwards; as graphql-js gives it to resolvers. */
export interface Path {
  readonly prev: Path | undefined;
  readonly key: string | number;
  readonly typename: string | undefined;
}

/** One execution of a compiled operation. */
export interface Run {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  readonly rootValue: unknown;
  readonly contextValue: unknown;
  /** The variables, coerced. */
  readonly variableValues: Record<string, unknown>;
  readonly errors: CollectedErrors;
  /** The arguments of each field that has some, coerced once: by the number of the field. */
  readonly coercedArguments: (CoercedArguments | undefined)[];
}

/** Arguments, or why they do not fit. */
export type CoercedArguments =
  | { readonly values: Record<string, unknown>; readonly error?: undefined }
  | { readonly values?: undefined; readonly error: unknown };

/** The errors of one execution. */
type CollectedErrors = ReturnType<typeof createCollectedErrors>;

export function createCollectedErrors() {
  const list: GraphQLError[] = [];
  const nulled = new Set<Path | undefined>();
  const isInsideNull = (path: Path | undefined): boolean => {
    for (let place = path; place !== undefined; place = place.prev) if (nulled.has(place)) return true;
    return nulled.has(undefined);
  };
  return {
    list,
    /** Adds the error of a member that becomes null, unless it is inside something that already became null. */
    add(error: GraphQLError, path: Path | undefined): void {
      if (nulled.size > 0 && isInsideNull(path)) return;
      nulled.add(path);
      list.push(error);
    },
  };
}

/** Whether graphql-js would wait for a value. */
export function isPromise(value: unknown): value is Promise<unknown> {
  if (typeof value !== 'object' && typeof value !== 'function') return false;
  return value !== null && typeof (value as Partial<Promise<unknown>>).then === 'function';
}
