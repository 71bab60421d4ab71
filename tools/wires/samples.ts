import type { CatalogEntry } from '../../subgraphs/media/generators/catalog/entry.ts';

/** What of a JSON Schema of options is read here. */
interface OptionSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, OptionSchema>>;
}

type Options = Readonly<Record<string, unknown>>;

/** For each option of a model, one object of options for each of its values: all of an enum, both ends of a range. */
export function sampleOptions({ options }: CatalogEntry): readonly Options[] {
  const { properties = {} } = (options ?? {}) as OptionSchema;
  return Object.entries(properties).flatMap(([name, schema]) =>
    sampleValues(schema).map((value) => ({ [name]: value })),
  );
}

function sampleValues(schema: OptionSchema): readonly unknown[] {
  if (schema.enum !== undefined) return schema.enum;
  switch (schema.type) {
    case 'boolean':
      return [true, false];
    case 'integer':
    case 'number': {
      const { minimum = 1, maximum = minimum } = schema;
      return minimum === maximum ? [minimum] : [minimum, maximum];
    }
    case 'string':
      return [schema.default ?? 'a text'];
    case 'object': {
      const inner = Object.entries(schema.properties ?? {});
      return inner.flatMap(([name, one]) => sampleValues(one).map((value) => ({ [name]: value })));
    }
    default:
      return [];
  }
}
