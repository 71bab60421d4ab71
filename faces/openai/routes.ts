import { type DocumentNode, type GraphQLSchema, validate } from 'graphql';

import { audioRoutes, transcriptionRoutes } from './audio/routes.ts';
import { batchRoutes } from './batches/routes.ts';
import { chatRoutes } from './chat/routes.ts';
import { fileRoutes } from './files/routes.ts';
import { imageRoutes } from './images/routes.ts';
import { modelRoutes } from './models/routes.ts';
import type { FaceRoute } from './table/route.ts';
import { videoRoutes } from './videos/routes.ts';

/** Every operation of OpenAI's API that is there. */
export const faceRoutes: readonly FaceRoute[] = [
  ...modelRoutes,
  ...imageRoutes,
  ...videoRoutes,
  ...audioRoutes,
  ...transcriptionRoutes,
  ...chatRoutes,
  ...fileRoutes,
  ...batchRoutes,
];

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
