import { type DocumentNode, type ExecutionResult, type FieldNode, GraphQLError, Kind, visit } from 'graphql';

import { remade } from '../../../platform/graphql/operations/answers.ts';
import { withExtensions } from '../../../platform/graphql/operations/errors.ts';
import type { Requirements } from './supergraph.ts';

/**
 * Apollo's planner takes what a caller asks for under a name, and what @requires asks for under the same, for one field: `price(currency:
 * "EUR")` of the caller then is what a field that needs `price(currency: "USD")` is computed from. So the caller's field gets a name
 * of its own in the plan, which is taken back in the result.
 */
export interface OwnNames {
  /** The document to plan: the same one where no name is in danger. */
  readonly document: DocumentNode;
  /** The result under the names that the caller gave. */
  readonly restore: (result: ExecutionResult) => ExecutionResult;
}

const MARK = '__kiln_own';

/** Gives a caller's fields names of their own where fields of the document may need the same name. */
export function withOwnNames(document: DocumentNode, { names }: Requirements): OwnNames {
  let isChanged = false;
  const rename = (field: FieldNode): FieldNode | undefined => {
    const { name, alias, arguments: given = [] } = field;
    const responseName = (alias ?? name).value;
    const isOther = name.value !== responseName || given.length > 0;
    if (!names.has(responseName) || !isOther) return undefined;
    isChanged = true;
    return { ...field, alias: { kind: Kind.NAME, value: `${responseName}${MARK}` } };
  };
  const renamed = names.size === 0 ? document : visit(document, { Field: { leave: rename } });
  if (!isChanged) return { document, restore: (result) => result };
  return { document: renamed, restore };
}

function restore({ data, errors, extensions, ...rest }: ExecutionResult): ExecutionResult {
  return {
    ...rest,
    ...(errors !== undefined && { errors: errors.map(restoredError) }),
    ...(data !== undefined && { data: data && remade(data, restored(data) as Record<string, unknown>) }),
    ...(extensions !== undefined && { extensions: renamedExtensions(extensions, restoredError) }),
  };
}

function restored(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(restored);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [ownName(name), restored(member)] as const),
  );
}

function restoredError(error: GraphQLError): GraphQLError {
  if (error.path === undefined) return error;
  const path = error.path.map((step) => (typeof step === 'string' ? ownName(step) : step));
  const message = error.message.replaceAll(MARK, '');
  return withExtensions(new GraphQLError(message, { path, originalError: error }), message, error.extensions);
}

/** The name that the caller gave. */
export function ownName(name: string): string {
  return name.endsWith(MARK) ? name.slice(0, -MARK.length) : name;
}

/** Renames the errors of `valueCompletion`. */
export function renamedExtensions(
  extensions: Readonly<Record<string, unknown>>,
  rename: (error: GraphQLError) => GraphQLError,
): Record<string, unknown> {
  const { valueCompletion } = extensions;
  if (!Array.isArray(valueCompletion)) return extensions;
  const errors = valueCompletion.map((error: unknown) =>
    error instanceof GraphQLError ? rename(error) : error,
  );
  return { ...extensions, valueCompletion: errors };
}
