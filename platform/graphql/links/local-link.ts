import { createSourceEventStream, type DocumentNode, type ExecutionResult } from 'graphql';

import type { Logger } from '../../process/logger.ts';
import { createCompiledExecutor, type ExecutorRequest } from '../execution/compiled-executor.ts';
import { createDocuments, type PreparedDocument } from '../operations/documents.ts';
import { type ErrorOrigin, failedResult, publicResult } from '../operations/errors.ts';
import { mapStream } from '../operations/streams.ts';
import type { Subgraph, SubgraphLink, SubgraphRequest } from '../operations/subgraph.ts';

export interface LocalLinkOptions {
  readonly subgraph: Subgraph;
  readonly logger: Logger;
}

/**
 * Link to a subgraph in this process. A document that comes with the request (from the planner, prepared) is executed
 * without validation; a text is parsed and validated once, then cached. Uploads pass by reference, each request gets a
 * new context, and unknown errors are masked and logged.
 */
export function createLocalLink({ subgraph, logger }: LocalLinkOptions): SubgraphLink {
  const { schema, name } = subgraph;
  const documents = createDocuments({ schema });
  const executor = createCompiledExecutor(schema);

  const prepared = ({ document, query }: SubgraphRequest): PreparedDocument =>
    document === undefined ? documents.prepare(query) : { document };
  const toArguments = (request: SubgraphRequest, document: DocumentNode): ExecutorRequest => ({
    document,
    variableValues: request.variables,
    operationName: request.operationName ?? null,
    contextValue: subgraph.contextFor(request.context),
  });
  const toOrigin = ({ context }: SubgraphRequest): ErrorOrigin => ({
    logger,
    traceId: context.caller.traceId,
    subgraph: name,
    signal: context.signal,
  });

  return {
    async execute(request) {
      const origin = toOrigin(request);
      try {
        const { document, errors } = prepared(request);
        if (errors !== undefined) return { errors };
        return publicResult(await executor.execute(toArguments(request, document)), origin);
      } catch (thrown) {
        return failedResult(thrown, origin);
      }
    },
    async subscribe(request) {
      const origin = toOrigin(request);
      try {
        const { document, errors } = prepared(request);
        if (errors !== undefined) return { errors };
        const execution = toArguments(request, document);
        const started = await createSourceEventStream({ schema, ...execution });
        if (!(Symbol.asyncIterator in started)) return publicResult(started, origin);
        return mapStream<unknown, ExecutionResult>({
          source: started[Symbol.asyncIterator](),
          map: async (rootValue) => publicResult(await executor.execute({ ...execution, rootValue }), origin),
          failed: (thrown) => failedResult(thrown, origin),
          signals: [request.context.signal],
        });
      } catch (thrown) {
        return failedResult(thrown, origin);
      }
    },
    check: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  };
}
