import { z } from 'zod';

import { unitNames } from '../../domain/cost.ts';
import { type ModelLimits, fieldForms } from '../../domain/inputs/model-limits.ts';
import { optionsSchema, optionsShape } from '../../domain/inputs/vendor-options/schema.ts';
import { pricedUnits } from '../../domain/price.ts';

/**
 * One model of the catalog, as its JSON says it: what it takes, what it costs, when it ends, and where each fact was read.
 * catalog.schema.json is made of this for editors. Each message is the remedy.
 */

/** The error of a value that is not as it must be: the remedy, and that it is missing where it is. */
export function must(remedy: string) {
  return {
    error: ({ input }: { readonly input?: unknown }) =>
      input === undefined ? `is missing: it ${remedy}` : remedy,
  };
}

/** A text that is not empty. */
export const text = z.string(must('must be a text')).min(1, must('must not be empty'));
/** A list of those. */
export const texts = z.array(text, must('must be a list of texts'));
const amount = z.number(must('must be a number')).nonnegative(must('must not be negative'));
const day = z.iso.date(must('must be a day, such as 2026-12-31'));
const most = z
  .int(must('must be a whole number above 0'))
  .min(1, must('must be a whole number above 0'))
  .nullable()
  .default(null);

/** Input, or option in the names of the vendor, -> value. */
export const when = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

const price = z.strictObject(
  {
    unit: z.enum(pricedUnits, must(`must be one of ${pricedUnits.join(', ')}`)),
    amount,
    per: z.number().positive(must('must be above 0')).optional(),
    when: when.optional(),
  },
  must('must be an object with unit and amount'),
);

/** Unit -> quantity. */
export const units = z.partialRecord(z.enum(unitNames), z.int().nonnegative());

/** Where a fact comes from: which members, from where, read on which day; disputed: tables of models say otherwise. */
const source = z.strictObject(
  { of: texts, from: text, read: day, disputed: z.boolean(must('must be true or false')).optional() },
  must('must be {of, from, read}'),
);

const field = z.strictObject(
  {
    name: text,
    as: z.enum(fieldForms, must(`must be one of ${fieldForms.join(', ')}`)).optional(),
  },
  must('must be {name, as}'),
);

/** How its vendor names the typed inputs, for wires on which every model has fields of its own (fal, replicate). */
const wire = z.strictObject(
  {
    fields: z.record(z.string(), field),
    paths: z.strictObject({ pictures: z.string(), words: z.string() }).optional(),
    version: text.optional(),
  },
  must('must be an object with fields: typed input -> {name, as}'),
);

/** One model, every member of it; what is absent is not limited or not known. */
export const catalogEntry = z.strictObject(
  {
    /** What callers and the provider call it. */
    id: text,
    /** Name for people. */
    name: text,
    category: text,
    kinds: texts,
    inputs: texts,
    needs: texts.default([]),
    sizes: texts.nullable().default(null),
    aspectRatios: texts.nullable().default(null),
    durations: z.array(z.number(), must('must be a list of seconds')).nullable().default(null),
    formats: texts.nullable().default(null),
    ranges: z.record(z.string(), z.tuple([z.number(), z.number()])).default({}),
    maxPrompt: most,
    maxCount: most,
    maxImages: most,
    counts: z.array(z.int(), must('must be a list of whole numbers')).nullable().default(null),
    nearestRatios: texts.nullable().default(null),
    lastFrameSizes: texts.nullable().default(null),
    imageDecidesShape: z.boolean(must('must be true or false')).default(true),
    /** What it takes besides, as JSON Schema in the names of its vendor; or the id of the model that takes the same. */
    options: z
      .union(
        [optionsSchema, text],
        must('must be a JSON Schema of type object, or the id of a model of the provider that has one'),
      )
      .nullable()
      .default(null),
    /** How its vendor names the typed inputs; absent: as most of its models do. */
    wire: wire.nullable().default(null),
    /** Prices in the currency of the price list; a list is one amount for each unit, the first that fits `when`. */
    prices: z.array(price).min(1, must('must not be empty')).nullable().default(null),
    /** Whether work that fails after it was accepted is charged. */
    chargesFailures: z.boolean(must('must be true or false')).default(false),
    /** Units that work is expected to take where its inputs do not tell, for estimates; of a list the first that fits `when`. */
    expected: z
      .union(
        [units, z.array(z.strictObject({ when: when.optional(), units })).min(1)],
        must('must be unit -> quantity, or a list of {when, units}'),
      )
      .nullable()
      .default(null),
    /** Seconds that one piece of work may take at the provider; null: as long as others of its kind. */
    longestSeconds: most,
    /** Seconds that one piece of work usually takes, as its source says; null: not known. */
    usualSeconds: most,
    releasedAt: day.nullable().default(null),
    /** The first day on which the provider refuses it. */
    retiresAt: day.nullable().default(null),
    /** What its provider names in its place. */
    successor: text.nullable().default(null),
    sources: z.array(source).default([]),
  },
  must('must be an object with id, name, ...'),
);

/** A model as it is written: `options` may be the id of another. */
export type WrittenEntry = z.infer<typeof catalogEntry>;

/** The models of one provider, the default of each kind first. */
export const catalogPage = z.strictObject({
  $schema: z.string().optional(),
  provider: text,
  models: z.array(catalogEntry),
});

/** A model with everything that is known of it. */
export interface CatalogEntry extends ModelLimits {
  /** Null: as most models of its vendor. */
  readonly wire: z.infer<typeof wire> | null;
  /** Null: not known. */
  readonly prices: z.infer<typeof catalogEntry>['prices'];
  readonly chargesFailures: boolean;
  readonly expected: z.infer<typeof catalogEntry>['expected'];
  readonly longestSeconds: number | null;
  /** As its source says; null: not known. */
  readonly usualSeconds: number | null;
  /** Day, YYYY-MM-DD; null: not known. */
  readonly releasedAt: string | null;
  /** The first day on which its provider refuses it, YYYY-MM-DD; null: none is known. */
  readonly retiresAt: string | null;
  /** What its provider names in its place. */
  readonly successor: string | null;
  /** Which facts are from where, and when they were read. */
  readonly sources: readonly {
    readonly of: readonly string[];
    readonly from: string;
    readonly read: string;
    readonly disputed?: boolean | undefined;
  }[];
}

/** The JSON Schemas of the catalog's files, for editors: `npm run schema` writes them. */

/** With the options by their shape alone: their bounds can't be said in JSON Schema. */
const model = catalogEntry.extend({ options: z.union([optionsShape, z.string()]).nullable().default(null) });

/** That of models/*.json. */
export function catalogPageSchema(): object {
  return z.toJSONSchema(catalogPage.extend({ models: z.array(model) }), { io: 'input' });
}

/** That of CATALOG_FILE, whose models name but what they change. */
export function catalogFileSchema(): object {
  const models = z.array(model.partial().required({ id: true }));
  const file = z.looseObject({ $schema: z.string().optional() }).catchall(models);
  return z.toJSONSchema(file, { io: 'input' });
}
