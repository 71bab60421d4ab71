import { Supergraph } from '@apollo/federation-internals';

import type { SubgraphLink } from '../../platform/graphql/operations/subgraph.ts';

/**
 * Makes the links of any Federation 2 supergraph from the routing URLs in its SDL (join__Graph), for a supergraph that
 * is not Kiln's own. Fails when a subgraph has no URL.
 */
export function linksFromSupergraph(
  supergraphSdl: string,
  makeLink: (subgraph: { readonly name: string; readonly url: string }) => SubgraphLink,
): Record<string, SubgraphLink> {
  const subgraphs = build(supergraphSdl).subgraphsMetadata();
  const withoutUrl = subgraphs.filter(({ url }) => !URL.canParse(url));
  if (withoutUrl.length > 0) {
    throw new Error(
      `the supergraph names no URL for the subgraphs ${withoutUrl.map(({ name }) => name).join(', ')}`,
    );
  }
  return Object.fromEntries(subgraphs.map(({ name, url }) => [name, makeLink({ name, url })]));
}

/** The names of a supergraph's subgraphs. */
export function subgraphNames(supergraphSdl: string): readonly string[] {
  return build(supergraphSdl)
    .subgraphsMetadata()
    .map(({ name }) => name);
}

/** What it uses is checked where its planner is made. */
function build(supergraphSdl: string): Supergraph {
  return Supergraph.build(supergraphSdl, { supportedFeatures: null });
}
