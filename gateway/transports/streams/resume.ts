import {
  type ArgumentNode,
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  getNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
  Kind,
  print,
  type SelectionNode,
  type SelectionSetNode,
  separateOperations,
} from 'graphql';

import type { OperationRequest } from '../admission/read-operation.ts';

/**
 * `Last-Event-ID` for GraphQL. Numbered event streams have a root field with `afterSeq` and events with a `seq`. The
 * document is rewritten to select `seq` under an alias, which becomes the SSE event id and is removed from the result.
 * A client that reconnects with `Last-Event-ID: N` gets the subscription with `afterSeq: N`, which replaces the value
 * of the document or its variables; it is a variable, so that one document is planned once for all reconnects.
 */

const SEQ_ALIAS = 'kilnResumeSeq';
const AFTER_VARIABLE = 'kilnResumeAfter';

/** The subscription rewritten to number its events; unchanged when its root field is not numbered. */
export function makeResumable(options: {
  readonly request: OperationRequest;
  readonly document: DocumentNode;
  readonly schema: GraphQLSchema;
  /** The number in `Last-Event-ID`, when the client sent one. */
  readonly afterSeq: number | undefined;
}): OperationRequest {
  const { request, document, schema, afterSeq } = options;
  const root = schema.getSubscriptionType();
  if (!root) return request;
  const rewritten = rewrite({
    document: onlyOperation(document, request.operationName),
    root,
    isResuming: afterSeq !== undefined,
  });
  if (rewritten === undefined) return request;
  return {
    query: print(rewritten.document),
    operationName: request.operationName,
    variables:
      afterSeq === undefined ? request.variables : { ...request.variables, [rewritten.variable]: afterSeq },
  };
}

/** Removes our alias from a result: the result that the client requested, and the number of the event if it has one. */
export function takeSeq(result: ExecutionResult): { result: ExecutionResult; seq: number | undefined } {
  if (!result.data) return { result, seq: undefined };
  let seq: number | undefined;
  const data = Object.fromEntries(
    Object.entries(result.data).map(([key, value]) => {
      if (typeof value !== 'object' || value === null || !(SEQ_ALIAS in value)) return [key, value];
      const { [SEQ_ALIAS]: found, ...rest } = value as Record<string, unknown>;
      if (typeof found === 'number') seq = found;
      return [key, rest];
    }),
  );
  return { result: { ...result, data }, seq };
}

/** The event number of a Last-Event-ID header; undefined for anything else. */
export function seqOfEventId(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,10}$/.test(header) && Number(header) < 2 ** 31
    ? Number(header)
    : undefined;
}

function onlyOperation(document: DocumentNode, operationName: string | undefined): DocumentNode {
  const separated = separateOperations(document);
  return separated[operationName ?? ''] ?? Object.values(separated)[0] ?? document;
}

interface Rewritten {
  readonly document: DocumentNode;
  /** The variable for `afterSeq`: the client's own where its document has one. */
  readonly variable: string;
}

function rewrite(options: {
  readonly document: DocumentNode;
  readonly root: GraphQLObjectType;
  readonly isResuming: boolean;
}): Rewritten | undefined {
  const { document, root, isResuming } = options;
  let variable: string | undefined;

  const rewriteSelections = (set: SelectionSetNode): SelectionSetNode => ({
    ...set,
    selections: set.selections.map((selection): SelectionNode => {
      if (selection.kind === Kind.FRAGMENT_SPREAD) return selection;
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        return { ...selection, selectionSet: rewriteSelections(selection.selectionSet) };
      }
      if (!isNumberedField(root, selection.name.value)) return selection;
      variable = afterVariableOf(selection) ?? AFTER_VARIABLE;
      return numberField(selection, isResuming ? variable : undefined);
    }),
  });

  const definitions = document.definitions.map((definition) => {
    // The root field may be in a fragment on the Subscription type.
    const isRoot =
      definition.kind === Kind.OPERATION_DEFINITION ||
      (definition.kind === Kind.FRAGMENT_DEFINITION && definition.typeCondition.name.value === root.name);
    return isRoot ? { ...definition, selectionSet: rewriteSelections(definition.selectionSet) } : definition;
  });
  if (variable === undefined) return undefined;
  const isOwn = variable === AFTER_VARIABLE;
  return {
    variable,
    document: {
      ...document,
      definitions: isResuming && isOwn ? definitions.map(declareVariable) : definitions,
    },
  };
}

function afterVariableOf(field: FieldNode): string | undefined {
  const value = field.arguments?.find((argument) => argument.name.value === 'afterSeq')?.value;
  return value?.kind === Kind.VARIABLE ? value.name.value : undefined;
}

function isNumberedField(root: GraphQLObjectType, name: string): boolean {
  const field = root.getFields()[name];
  if (!field?.args.some((argument) => argument.name === 'afterSeq')) return false;
  const type = getNamedType(field.type);
  return (isObjectType(type) || isInterfaceType(type)) && type.getFields()['seq'] !== undefined;
}

function numberField(field: FieldNode, variable: string | undefined): FieldNode {
  const seq: FieldNode = { kind: Kind.FIELD, alias: nameOf(SEQ_ALIAS), name: nameOf('seq') };
  const others = field.arguments?.filter((argument) => argument.name.value !== 'afterSeq') ?? [];
  return {
    ...field,
    ...(variable === undefined ? {} : { arguments: [...others, afterArgument(variable)] }),
    selectionSet: {
      kind: Kind.SELECTION_SET,
      selections: [...(field.selectionSet?.selections ?? []), seq],
    },
  };
}

function afterArgument(variable: string): ArgumentNode {
  const value = { kind: Kind.VARIABLE, name: nameOf(variable) } as const;
  return { kind: Kind.ARGUMENT, name: nameOf('afterSeq'), value };
}

function declareVariable(
  definition: DocumentNode['definitions'][number],
): DocumentNode['definitions'][number] {
  if (definition.kind !== Kind.OPERATION_DEFINITION) return definition;
  return {
    ...definition,
    variableDefinitions: [
      ...(definition.variableDefinitions ?? []),
      {
        kind: Kind.VARIABLE_DEFINITION,
        variable: { kind: Kind.VARIABLE, name: nameOf(AFTER_VARIABLE) },
        type: { kind: Kind.NAMED_TYPE, name: nameOf('Int') },
      },
    ],
  };
}

function nameOf(value: string): { readonly kind: Kind.NAME; readonly value: string } {
  return { kind: Kind.NAME, value };
}
