import { GraphQLUpload, type FileUpload } from 'graphql-upload-minimal';

import { createSubgraphBuilder } from '../../../platform/graphql/schema/builder.ts';
import type { MediaContext } from './context.ts';

/**
 * The media subgraph's schema builder. Each other file of this folder adds one domain type with its root fields; index.ts
 * lists them all. Resolvers are one line into a service; rules live there.
 */
export const { builder, connection } = createSubgraphBuilder<
  MediaContext,
  { Upload: { Input: Promise<FileUpload>; Output: never } }
>();

builder.addScalarType('Upload', GraphQLUpload, {
  description: 'A file of a GraphQL multipart request; its bytes are streamed, never buffered whole.',
});
