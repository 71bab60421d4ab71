import { buildOperationContext } from '@apollo/gateway';
import { GraphQLError, type DocumentNode, type GraphQLSchema } from 'graphql';

import { AppError } from '../../platform/errors.ts';

/** What Apollo's executor calls the operation context: operation, fragments, schema. */
export type OperationContext = ReturnType<typeof buildOperationContext>;

/** The context of one operation of a document. Throws BAD_USER_INPUT when the document has no such operation. */
export function operationContext(request: {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName: string | undefined;
}): OperationContext {
  const { schema, document: operationDocument, operationName } = request;
  try {
    const named = operationName === undefined ? {} : { operationName };
    return buildOperationContext({ schema, operationDocument, ...named });
  } catch (cause) {
    if (!(cause instanceof GraphQLError)) throw cause;
    throw new AppError('BAD_USER_INPUT', cause.message, { field: 'operationName', cause });
  }
}
