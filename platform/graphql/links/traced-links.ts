import { inSpan } from '../../tracing/span.ts';
import type { SubgraphLink } from '../operations/subgraph.ts';

/** The same links; each fetch of a traced operation is a span. */
export function tracedLinks(
  links: Readonly<Record<string, SubgraphLink>>,
): Readonly<Record<string, SubgraphLink>> {
  return Object.fromEntries(
    Object.entries(links).map(([subgraph, link]) => {
      const execute: SubgraphLink['execute'] = (request) =>
        inSpan(`fetch ${subgraph}`, { kind: 'client' }, async (span) => {
          const result = await link.execute(request);
          if (result.errors !== undefined) span?.set({ 'graphql.errors': result.errors.length });
          return result;
        });
      return [subgraph, { ...link, execute }] as const;
    }),
  );
}
