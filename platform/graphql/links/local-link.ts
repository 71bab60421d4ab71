import { type DocumentNode, execute, type ExecutionArgs, type ExecutionResult, subscribe } from 'graphql';

import type { Logger } from '../../process/logger.ts';
import { createDocuments, type PreparedDocument } from '../operations/documents.ts';
import { type ErrorOrigin, failedResult, publicResult } from '../operations/errors.ts';
import { isStream, mapStream } from '../operations/streams.ts';
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

  const prepared = ({ document, query }: SubgraphRequest): PreparedDocument =>
    document === undefined ? documents.prepare(query) : { document };
  const argumentsOf = (request: SubgraphRequest, document: DocumentNode): ExecutionArgs => ({
    schema,
    document,
    variableValues: request.variables,
    operationName: request.operationName ?? null,
    contextValue: subgraph.contextFor(request.context),
  });
  const originOf = ({ context }: SubgraphRequest): ErrorOrigin => ({
    logger,
    traceId: context.caller.traceId,
    subgraph: name,
    signal: context.signal,
  });

  return {
    async execute(request) {
      const origin = originOf(request);
      try {
        const { document, errors } = prepared(request);
        if (errors !== undefined) return { errors };
        return publicResult(await execute(argumentsOf(request, document)), origin);
      } catch (thrown) {
        return failedResult(thrown, origin);
      }
    },
    async subscribe(request) {
      const origin = originOf(request);
      try {
        const { document, errors } = prepared(request);
        if (errors !== undefined) return { errors };
        const started = await subscribe(argumentsOf(request, document));
        if (!isStream<ExecutionResult>(started)) return publicResult(started, origin);
        return mapStream<ExecutionResult, ExecutionResult>({
          source: started,
          map: (event) => publicResult(event, origin),
          failed: (thrown) => failedResult(thrown, origin),
          signals: [request.context.signal],
        });
      } catch (thrown) {
        return failedResult(thrown, origin);
      }
    },
    check: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
