import { type DocumentNode, type GraphQLSchema, validate } from 'graphql';

import { faceRoutes } from './routes.ts';

/** Errors of the face's documents against this schema; empty when there are none. It is served only then. */
export function validateFace(schema: GraphQLSchema): readonly string[] {
  const users = new Map<DocumentNode, string>();
  for (const { method, path, documents } of faceRoutes) {
    for (const document of documents) users.set(document, users.get(document) ?? `${method} ${path}`);
  }
  return [...users].flatMap(([document, user]) =>
    validate(schema, document).map(({ message }) => `${user}: ${message}`),
  );
}
