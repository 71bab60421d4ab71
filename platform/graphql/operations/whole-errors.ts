import { GraphQLError } from 'graphql';

/** Errors of subgraphs that an operator lets callers see as they are, known also where they were made anew with another path. */
const whole = new WeakSet<Error>();

/** Lets callers see an error as it is. */
export function noteWhole(error: GraphQLError): GraphQLError {
  whole.add(error);
  return error;
}

/** Whether callers may see an error as it is. */
export function isWhole(error: GraphQLError): boolean {
  let current: Error | undefined = error;
  while (current instanceof GraphQLError) {
    if (whole.has(current)) return true;
    current = current.originalError;
  }
  return false;
}
