import { execute, Kind, OperationTypeNode, visit } from 'graphql';
import type { DocumentNode, ExecutionResult, FragmentDefinitionNode, GraphQLSchema } from 'graphql';

import { compileFields, type CompiledFields } from './compile-fields.ts';
import { createCollectedErrors, isPromise, type Run } from './run.ts';
import { compileVariables } from './variables.ts';

/** Executes validated operations over one schema, as graphql-js does and with the same results, several times as fast. */
export type CompiledExecutor = ReturnType<typeof createCompiledExecutor>;

export interface ExecutorRequest {
  /** Must have been validated. Its compiled operations are kept as long as this object lives. */
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues: Readonly<Record<string, unknown>>;
  readonly contextValue: unknown;
  /** The event, for an operation that is a subscription. */
  readonly rootValue?: unknown;
}

/**
 * Makes the executor of a schema. An operation is compiled at its first execution: fields are collected once per runtime
 * type and vector of @skip and @include values, arguments are coerced once per execution, and promises are made only where
 * a resolver returned one. Resolvers, isTypeOf and resolveType are called as graphql-js calls them. Rare operations
 * (introspection, an alias `__proto__`, more than 64 vectors, no such operation) are executed by graphql-js.
 */
export function createCompiledExecutor(schema: GraphQLSchema) {
  const documents = new WeakMap<DocumentNode, Map<string | null, CompiledOperation | null>>();
  const findOperation = ({ document, operationName }: ExecutorRequest): CompiledOperation | null => {
    const name = operationName ?? null;
    const known = documents.get(document)?.get(name);
    if (known !== undefined) return known;
    const compiled = compileOperation(schema, document, name);
    const ofDocument = documents.get(document) ?? new Map<string | null, CompiledOperation | null>();
    documents.set(document, ofDocument.set(name, compiled));
    return compiled;
  };
  return {
    /** The result at once when no resolver has to be waited for, else a promise of it that never rejects. */
    execute(request: ExecutorRequest): ExecutionResult | Promise<ExecutionResult> {
      return findOperation(request)?.(request) ?? execute({ schema, ...request });
    },
  };
}

/** Executes an operation; null when it is graphql-js's to execute. */
type CompiledOperation = (request: ExecutorRequest) => ExecutionResult | Promise<ExecutionResult> | null;

const MAX_VARIANTS = 64;

function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null,
): CompiledOperation | null {
  const parts = splitDocument(document, operationName);
  const type = parts === null ? null : schema.getRootType(parts.operation.operation);
  if (parts === null || type === undefined || type === null || isRare(document)) return null;
  const { operation, fragments } = parts;
  const conditionNames = conditionVariables(document);
  const coerceVariables = compileVariables(schema, operation.variableDefinitions ?? []);
  const variants = new Map<string, CompiledFields>();
  let numbers = 0;

  const findVariant = (variableValues: Record<string, unknown>): CompiledFields | null => {
    const conditions: Record<string, boolean> = {};
    let key = '';
    for (const name of conditionNames) {
      const value = variableValues[name];
      if (typeof value !== 'boolean') return null;
      conditions[name] = value;
      key += value ? '1' : '0';
    }
    const known = variants.get(key);
    if (known !== undefined || variants.size >= MAX_VARIANTS) return known ?? null;
    const compiling = { schema, fragments, conditions, nextNumber: () => (numbers += 1) };
    const compiled = compileFields([operation.selectionSet], type, compiling);
    variants.set(key, compiled);
    return compiled;
  };

  return ({ variableValues: variables, contextValue, rootValue }) => {
    const { coerced, errors } = coerceVariables(variables);
    if (errors !== undefined) return { errors };
    const fields = findVariant(coerced);
    if (fields === null) return null;
    const run: Run = {
      schema,
      operation,
      fragments,
      rootValue,
      contextValue,
      variableValues: coerced,
      errors: createCollectedErrors(),
      coercedArguments: [],
    };
    return executeRoot(run, fields);
  };
}

function executeRoot(run: Run, fields: CompiledFields): ExecutionResult | Promise<ExecutionResult> {
  const result = (data: unknown): ExecutionResult => {
    const { list } = run.errors;
    return (list.length === 0 ? { data } : { errors: list, data }) as ExecutionResult;
  };
  const failed = (thrown: unknown): ExecutionResult => {
    run.errors.add(thrown as Parameters<typeof run.errors.add>[0], undefined);
    return result(null);
  };
  try {
    const data =
      run.operation.operation === OperationTypeNode.MUTATION
        ? fields.executeInTurn(run, run.rootValue)
        : fields.executeTogether(run, run.rootValue, undefined);
    return isPromise(data) ? data.then(result, failed) : result(data);
  } catch (thrown) {
    return failed(thrown);
  }
}

/** The operation that is meant, with all fragments; null when there is none, or more than one. */
function splitDocument({ definitions }: DocumentNode, operationName: string | null) {
  const operations = definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const meant = operations.filter(({ name }) => operationName === null || name?.value === operationName);
  const [operation] = meant;
  if (operation === undefined || meant.length > 1) return null;
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null);
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  return { operation, fragments };
}

function isRare(document: DocumentNode): boolean {
  let found = false;
  visit(document, {
    Field({ name, alias }) {
      if (name.value === '__schema' || name.value === '__type' || alias?.value === '__proto__') found = true;
    },
  });
  return found;
}

function conditionVariables(document: DocumentNode): readonly string[] {
  const names = new Set<string>();
  visit(document, {
    Directive({ name, arguments: directiveArguments = [] }) {
      if (name.value !== 'skip' && name.value !== 'include') return;
      for (const { value } of directiveArguments)
        if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return [...names];
}
