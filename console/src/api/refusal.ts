import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { KilnError } from '@kiln/client';

/** What the server has refused outside of GraphQL: its own words, and its code where it has told one. */
export class Refusal extends Error {
  readonly code: string;

  constructor(message: string, code = '') {
    super(message);
    this.name = 'Refusal';
    this.code = code;
  }
}

/** The code of what the server has refused, in whatever way it was asked; undefined where it was not the server that failed. */
export function refusalCode(error: unknown): string | undefined {
  if (error instanceof Refusal || error instanceof KilnError) return error.code;
  if (!CombinedGraphQLErrors.is(error)) return undefined;
  const code = error.errors[0]?.extensions?.['code'];
  return typeof code === 'string' ? code : undefined;
}
