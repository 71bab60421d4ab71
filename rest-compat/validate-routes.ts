import { parse, validate } from 'graphql';
import type { GraphQLSchema } from 'graphql';

import { TaskById } from './documents/media/task.ts';
import { documentsOfUpload } from './request/upload.ts';
import type { Route, Section } from './route/route.ts';
import { sections as allSections } from './tables.ts';
import { TaskEvents } from './wait.ts';

/**
 * What keeps the routes from being served over this schema, in words; empty when nothing does. A gateway in front of a
 * foreign supergraph mounts the REST paths only then.
 */
export function validateRoutes(
  schema: GraphQLSchema,
  sections: readonly Section[] = allSections,
): readonly string[] {
  const users = new Map<string, Route>();
  for (const route of sections.flatMap(({ routes }) => routes)) {
    for (const text of documentsOf(route)) users.set(text, users.get(text) ?? route);
  }
  return [...users].flatMap(([text, { method, path }]) =>
    validate(schema, parse(text)).map((error) => `${method} ${path}: ${error.message}`),
  );
}

/** Every GraphQL document that a route may run. */
function documentsOf(route: Route): readonly string[] {
  const params = Object.values(route.params);
  return [
    ...(route.asks === null ? [] : [route.asks.text]),
    ...(route.wait === undefined ? [] : [TaskEvents.text, TaskById.text]),
    ...(route.first === undefined ? [] : [route.first.asks.text]),
    ...params.flatMap(({ destination }) => (destination === undefined ? [] : documentsOfUpload(destination))),
  ];
}
