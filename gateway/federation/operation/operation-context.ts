import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';

import { AppError } from '../../../platform/errors.ts';

/** One operation of a document, with all fragments of it and the schema that callers see. */
export interface OperationContext {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
}

/** The context of one operation of a document. Throws BAD_USER_INPUT when the document has no such operation. */
export function operationContext(request: {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName: string | undefined;
}): OperationContext {
  const { schema, document, operationName = '' } = request;
  const operations = document.definitions.filter(
    (definition) => definition.kind === Kind.OPERATION_DEFINITION,
  );
  const fragments = document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const named = operations.filter(({ name }) => operationName === '' || name?.value === operationName);
  const [operation] = named;
  if (operation === undefined) throw refusal(`Unknown operation named ${JSON.stringify(operationName)}.`);
  if (named.length > 1) throw refusal('Must provide operation name if query contains multiple operations.');
  return {
    schema,
    operation,
    fragments: Object.fromEntries(fragments.map((fragment) => [fragment.name.value, fragment])),
  };
}

function refusal(message: string): AppError {
  return new AppError('BAD_USER_INPUT', message, { field: 'operationName' });
}
