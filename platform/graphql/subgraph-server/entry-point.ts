import type { Logger } from '../../process/logger.ts';
import { createCallerVerifier } from '../assertions/caller-assertion.ts';
import { createLocalLink } from '../links/local-link.ts';
import { createDocuments } from '../operations/documents.ts';
import type { Subgraph } from '../operations/subgraph.ts';

/**
 * What HTTP and WebSocket of a subgraph server share: finding the caller, and checking the document. Only processes of
 * Kiln are answered: limits of documents and rates are the gateway's, and nobody passes it by.
 */
export type SubgraphEntryPoint = ReturnType<typeof createSubgraphEntryPoint>;

export interface SubgraphEntryPointOptions {
  readonly subgraph: Subgraph;
  /** INTERNAL_KEY: what caller assertions must be signed with. */
  readonly internalKey: string;
  readonly logger: Logger;
}

/** Makes the entry point of one subgraph. */
export function createSubgraphEntryPoint({ subgraph, internalKey, logger }: SubgraphEntryPointOptions) {
  const { name, schema } = subgraph;
  const documents = createDocuments({ schema });
  return {
    name,
    schema,
    logger,
    link: createLocalLink({ subgraph, logger }),
    verify: createCallerVerifier({ key: internalKey, audience: name }),
    prepare: (query: string) => documents.prepare(query),
  };
}
