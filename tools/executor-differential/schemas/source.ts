/** A federated schema of the differential test: the SDL of each subgraph, without its `@link`. */
export interface FederatedSource {
  readonly name: string;
  readonly subgraphs: Readonly<Record<string, string>>;
}
