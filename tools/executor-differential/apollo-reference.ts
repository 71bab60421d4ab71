import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import type { executeQueryPlan as ExecuteQueryPlan, GraphQLDataSource } from '@apollo/gateway';
import type { FetchNode } from '@apollo/query-planner';
import { type ExecutionResult, GraphQLError } from 'graphql';

import { withRightShapes } from '../../gateway/federation/compiled/shape/wrong-shapes.ts';
import type { Planner } from '../../gateway/federation/plans.ts';
import { gatewayFailure } from '../../gateway/federation/results.ts';
import type { Documents } from '../../platform/graphql/operations/documents.ts';
import { withExtensions } from '../../platform/graphql/operations/errors.ts';
import type { GraphqlRequest } from '../../platform/graphql/operations/executor.ts';
import { isEndOfStream, isStream } from '../../platform/graphql/operations/streams.ts';
import type { SubgraphLink } from '../../platform/graphql/operations/subgraph.ts';
import { silentLogger } from '../../platform/process/logger.ts';

/** Apollo's own executor over our links: what a compiled one is held against. */
export interface Reference {
  /** The result of a query or mutation, or those of all events of a subscription. */
  run(request: GraphqlRequest): Promise<readonly ExecutionResult[]>;
}

export interface ReferenceOptions {
  readonly planner: Planner;
  readonly documents: Documents;
  readonly links: Readonly<Record<string, SubgraphLink>>;
}

/**
 * Apollo counts the representations that it sends and the entities that it has found as if they were the same, so that
 * an error behind a type condition is told of another entity (`products[0]` for `products[2]`). And one value of a wrong
 * shape costs it the whole answer. This puts both right in a copy of its executor; nothing else is changed.
 */
const CORRECTIONS: readonly (readonly [wrong: string, right: string])[] = [
  [
    'const representationToEntity = [];',
    'const representationToEntity = (currentCursor.representationToEntity = []);',
  ],
  [
    'const hydratedPath = (_a = hydratedPaths[errorPath[1]])',
    'const hydratedPath = (_a = hydratedPaths[cursor.representationToEntity[errorPath[1]]])',
  ],
  [
    'const result = await opentelemetry_1.tracer.startActiveSpan(opentelemetry_1.OpenTelemetrySpanNames.POST_PROCESSING',
    `const right = withRightShapes(operation, unfilteredData);
     Object.assign(unfilteredData, right.data);
     errors.push(...right.errors);
     const result = await opentelemetry_1.tracer.startActiveSpan(opentelemetry_1.OpenTelemetrySpanNames.POST_PROCESSING`,
  ],
  ['return value.flatMap((element)', 'return (Array.isArray(value) ? value : []).flatMap((element)'],
  [
    '(0, federation_internals_1.assert)(!Array.isArray(value), () => `Unexpected array in result for path element ${current}`);',
    "if (typeof value !== 'object' || Array.isArray(value)) return undefined;",
  ],
  [
    "(0, federation_internals_1.assert)(Array.isArray(data), 'expected array when encountering `@`');",
    'if (!Array.isArray(data)) return;',
  ],
  [
    'entities = currentCursor.data.filter(array_1.isNotNullOrUndefined);',
    "entities = currentCursor.data.filter((value) => typeof value === 'object' && value !== null);",
  ],
  [
    'entities = [currentCursor.data];',
    "entities = typeof currentCursor.data === 'object' ? [currentCursor.data] : [];",
  ],
  ['result.push(parent.slice());', "if (typeof data === 'object') result.push(parent.slice());"],
];

function correctedExecutor(): typeof ExecuteQueryPlan {
  const file = createRequire(import.meta.url).resolve('@apollo/gateway/dist/executeQueryPlan.js');
  let source = readFileSync(file, 'utf8');
  for (const [wrong, right] of CORRECTIONS) {
    if (source.split(wrong).length !== 2) throw new Error(`${file} no longer has ${wrong}`);
    source = source.replace(wrong, right);
  }
  const loaded = { exports: {} as { executeQueryPlan: typeof ExecuteQueryPlan } };
  // oxlint-disable-next-line typescript/no-implied-eval -- the installed file with these expressions put right
  new Function('module', 'exports', 'require', '__dirname', 'withRightShapes', source)(
    loaded,
    loaded.exports,
    createRequire(file),
    path.dirname(file),
    withRightShapes,
  );
  return loaded.exports.executeQueryPlan;
}

const executeQueryPlan = correctedExecutor();

/** Makes the reference over a planner, its documents and the links. */
export function createReference({ planner, documents, links }: ReferenceOptions): Reference {
  const buildPlan = ({ query, operationName }: GraphqlRequest) => {
    const { document } = documents.prepare(query);
    if (document === undefined) throw new Error(`not valid: ${query}`);
    return planner.findPlan(document, operationName);
  };
  const runPlan = async (request: GraphqlRequest, answered?: Answered): Promise<ExecutionResult> => {
    const plan = buildPlan(request);
    const { query, variables, context } = request;
    const requestContext = { request: { query, variables }, context, logger: silentLogger(), metrics: {} };
    try {
      const result = await executeQueryPlan(
        plan.plan,
        servicesOver(links, answered),
        requestContext as unknown as Parameters<typeof executeQueryPlan>[2],
        plan.operation,
        planner.supergraphSchema,
        planner.apiModel,
      );
      return plan.restore(outwardResult(result, context));
    } catch (thrown) {
      return gatewayFailure(thrown, context, silentLogger());
    }
  };

  return {
    async run(request) {
      const plan = buildPlan(request);
      if (plan.kind === 'request') return [await runPlan(request)];
      const {
        serviceName,
        operation: query,
        operationDocumentNode: document,
        variableUsages = [],
      } = plan.primary;
      const used = variableUsages.filter((name) => Object.hasOwn(request.variables, name));
      const variables = Object.fromEntries(used.map((name) => [name, request.variables[name]]));
      const asked = { ...request, query, variables, ...(document === undefined ? {} : { document }) };
      const started = await links[serviceName]?.subscribe(asked);
      if (started === undefined || !isStream<ExecutionResult>(started)) throw new Error('no stream');
      const results: ExecutionResult[] = [];
      for await (const result of started) {
        const isEnd = isEndOfStream(result);
        const answered = { fetch: plan.primary, result };
        results.push(isEnd ? outwardResult(result, request.context) : await runPlan(request, answered));
      }
      return results;
    },
  };
}

/**
 * The same result as callers are told it: without the name of the subgraph, and with what is no GraphQL error (a subgraph
 * that breaks the protocol) masked as everything that nobody foresaw.
 */
function outwardResult(result: ExecutionResult, context: GraphqlRequest['context']): ExecutionResult {
  if (result.errors === undefined) return result;
  const errors = result.errors.flatMap((error) => {
    if (!(error instanceof GraphQLError)) return gatewayFailure(error, context, silentLogger()).errors ?? [];
    const { serviceName: _serviceName, ...extensions } = error.extensions;
    return [withExtensions(error, error.message, extensions)];
  });
  return { ...result, errors };
}

/** The event that plays the answer of a subscription's first fetch. */
interface Answered {
  readonly fetch: FetchNode;
  readonly result: ExecutionResult;
}

/** The links as Apollo's data sources. */
function servicesOver(links: Readonly<Record<string, SubgraphLink>>, answered?: Answered) {
  const createService = (name: string, link: SubgraphLink): GraphQLDataSource => ({
    async process({ request, context, ...rest }) {
      const { query = '', operationName, variables = {} } = request;
      if (answered?.fetch.serviceName === name && answered.fetch.operation === query)
        return answered.result as never;
      const document = 'document' in rest && rest.document !== undefined ? { document: rest.document } : {};
      const asked = {
        query,
        operationName,
        variables,
        context: { ...context } as GraphqlRequest['context'],
        ...document,
      };
      return (await link.execute(asked)) as never;
    },
  });
  return Object.fromEntries(Object.entries(links).map(([name, link]) => [name, createService(name, link)]));
}
