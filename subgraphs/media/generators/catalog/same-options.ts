import type { OptionsSchema } from '../../domain/inputs/vendor-options/schema.ts';
import type { CatalogEntry, WrittenEntry } from './entry.ts';

/** Models of one vendor often take the same options: an entry may name another whose options it has. */

/** The options of the model of this id, where it has its own; undefined when it has none, or those of another. */
export function optionsAt(models: readonly WrittenEntry[], id: string): OptionsSchema | undefined {
  const found = models.find((model) => model.id === id)?.options;
  return typeof found === 'string' || found === null ? undefined : found;
}

/** The models of a provider with the options that each has. Throws when one names a model without options of its own. */
export function withSameOptions(models: readonly WrittenEntry[]): readonly CatalogEntry[] {
  return models.map((model) => {
    const { options } = model;
    if (typeof options !== 'string') return { ...model, options };
    const same = optionsAt(models, options);
    if (same === undefined)
      throw new Error(`${model.id} has the options of ${options}, which has none of its own`);
    return { ...model, options: same };
  });
}
