import { GraphQLError } from 'graphql';

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
