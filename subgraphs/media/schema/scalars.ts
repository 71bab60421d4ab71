import { GraphQLUpload } from 'graphql-upload-minimal';

import { dateTimeScalar, jsonScalar } from '../../../platform/graphql/schema/scalars.ts';
import { builder } from './builder.ts';

builder.scalarType('DateTime', dateTimeScalar);
builder.scalarType('JSON', jsonScalar);
builder.addScalarType('Upload', GraphQLUpload, {
  description: 'A file of a GraphQL multipart request; its bytes are streamed, never buffered whole.',
});
