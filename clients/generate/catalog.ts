import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A JSON Schema of the catalog, as far as types can say it. */
export interface OptionSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, OptionSchema>>;
  readonly required?: readonly string[];
  readonly items?: OptionSchema;
  readonly anyOf?: readonly OptionSchema[];
}

/** A model with options: its own, or those of another one. */
export interface ModelWithOptions {
  readonly id: string;
  readonly name: string;
  readonly options: OptionSchema | string;
}

/** The models of the catalog whose options are known, by id. */
export function readModels(folder: string): readonly ModelWithOptions[] {
  return globSync('*.json', { cwd: folder })
    .toSorted()
    .flatMap((file) => {
      const page = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as {
        readonly models: readonly {
          readonly id: string;
          readonly name: string;
          readonly options?: OptionSchema | string | null;
        }[];
      };
      return page.models.flatMap(({ id, name, options }) => (options ? [{ id, name, options }] : []));
    });
}
