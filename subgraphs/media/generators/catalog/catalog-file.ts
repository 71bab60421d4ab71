import { z } from 'zod';

import { readCheckedFile, reportIssue, type Report } from '../../../../platform/config/checked-file.ts';
import type { TextFile } from '../../../../platform/config/text-file.ts';
import type { Json } from '../../../../platform/json.ts';
import type { OptionsSchema } from '../../domain/inputs/vendor-options/schema.ts';
import { catalogEntry, type WrittenEntry, type CatalogEntry } from './entry.ts';

/**
 * CATALOG_FILE: provider -> its models. An entry whose id is known changes the members that it names; any other adds a
 * model behind the known ones, and names at least what a model needs: name, category, kinds and inputs.
 */

const shape = z.record(
  z.string(),
  z.array(z.looseObject({ id: z.string({ error: 'must be a text' }).min(1, 'must not be empty') }), {
    error: 'must be a list of models',
  }),
  { error: 'must be an object: provider -> list of models' },
);

type Models = ReadonlyMap<string, readonly WrittenEntry[]>;

/** The known models with those of the file. Throws AppError NOT_CONFIGURED with every mistake, each with line, field and remedy. */
export function withCatalogFile(known: Models, file: TextFile): Models {
  return readCheckedFile({ setting: 'CATALOG_FILE', ...file }, ({ value }, report) =>
    merged(known, value, report),
  );
}

function merged(known: Models, value: Json, report: Report): Models {
  const parsed = shape.safeParse(withoutSchemaLink(value));
  if (!parsed.success) {
    for (const issue of parsed.error.issues) reportIssue(issue, report, 'a model');
    return known;
  }
  const all = new Map(known);
  for (const [provider, written] of Object.entries(parsed.data)) {
    const own = known.get(provider);
    if (own === undefined) {
      report([provider], `is no provider: known are ${[...known.keys()].join(', ')}`);
      continue;
    }
    const byId = new Map(own.map((entry) => [entry.id, entry]));
    for (const [index, entry] of written.entries()) {
      const read = catalogEntry.safeParse({ ...byId.get(entry.id), ...entry });
      if (read.success) byId.set(entry.id, read.data);
      else reportModel(read.error, [provider, index], report);
    }
    const models = [...byId.values()];
    for (const [index, { id }] of written.entries()) {
      const options = byId.get(id)?.options;
      if (typeof options === 'string' && optionsAt(models, options) === undefined)
        report(
          [provider, index, 'options'],
          'must be a JSON Schema, or the id of a model with one of its own',
        );
    }
    all.set(provider, models);
  }
  return all;
}

function reportModel(error: z.ZodError, at: readonly (string | number)[], report: Report): void {
  for (const issue of error.issues)
    reportIssue({ ...issue, path: [...at, ...issue.path] }, report, 'a model');
}

/** Without `$schema`, by which editors find the form of the file. */
function withoutSchemaLink(value: Json): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== '$schema'));
}

/** Models of one vendor often take the same options: an entry may name another whose options it has. */

/** The options of the model of this id, where it has its own; undefined when it has none, or those of another. */
function optionsAt(models: readonly WrittenEntry[], id: string): OptionsSchema | undefined {
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
