import type { Logger } from '../../process/logger.ts';
import type { CallerVerifier } from '../assertions/caller-assertion.ts';
import type { PreparedDocument } from '../operations/documents.ts';
import type { SubgraphLink } from '../operations/subgraph.ts';

/** What a subgraph server hands to its channels: who may ask, and what answers. */
export interface AnsweringSubgraph {
  readonly name: string;
  readonly link: Pick<SubgraphLink, 'execute'>;
  readonly logger: Logger;
  readonly verify: CallerVerifier;
  prepare(query: string): PreparedDocument;
}
