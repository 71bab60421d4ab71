import { type DocumentNode, type GraphQLSchema, validate } from 'graphql';

import { TaskById, TaskEvents } from './documents/media/task.ts';
import { documentsOfUpload } from './request/upload.ts';
import type { Route, Section } from './route/route.ts';
import { sections as allSections } from './tables.ts';

/**
 * Errors of the routes' documents against this schema; empty when there are none. A gateway in front of a foreign supergraph
 * serves the REST paths only then.
 */
export function validateRoutes(
  schema: GraphQLSchema,
  sections: readonly Section[] = allSections,
): readonly string[] {
  const users = new Map<DocumentNode, Route>();
  for (const route of sections.flatMap(({ routes }) => routes)) {
    for (const document of listDocuments(route)) users.set(document, users.get(document) ?? route);
  }
  return [...users].flatMap(([document, { method, path }]) =>
    validate(schema, document).map((error) => `${method} ${path}: ${error.message}`),
  );
}

/** Every GraphQL document that a route may run. */
function listDocuments(route: Route): readonly DocumentNode[] {
  const params = Object.values(route.params);
  return [
    ...(route.document === null ? [] : [route.document]),
    ...(route.wait === undefined ? [] : [TaskEvents, TaskById]),
    ...(route.first === undefined ? [] : [route.first.document]),
    ...params.flatMap(({ destination }) => (destination === undefined ? [] : documentsOfUpload(destination))),
  ];
}
