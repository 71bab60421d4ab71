import { createCatalog } from '../../../subgraphs/media/generators/catalog/catalog.ts';
import type { Connection } from '../../../subgraphs/media/providers/contract/provider.ts';

/** The part of a connection that says a model's own fields, as the catalog has them. */
export function findWire(provider: string, model: string): Pick<Connection, 'wire'> {
  const wire = createCatalog()
    .listModels(provider)
    .find(({ id }) => id === model)?.wire;
  return wire ? { wire } : {};
}
