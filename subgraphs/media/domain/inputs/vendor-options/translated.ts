import type { JsonObject } from '../../../../../platform/json.ts';
import type { OptionSchema, OptionsSchema } from './schema.ts';

/**
 * Typed inputs that several vendors have under names and words of their own. No adapter knows them: the option of the
 * model whose `x-input` names one is what is sent. Pure.
 */
const TRANSLATED = ['quality', 'background', 'outputFormat', 'generateAudio'] as const;

/** Work as far as they matter here. */
export interface Translatable {
  readonly kind: string;
  readonly options?: JsonObject | undefined;
}

/** A typed input of the work, and the option that says the same; without one the model does not take it. */
interface Translation {
  readonly input: string;
  readonly value: string | boolean;
  readonly option?: string;
}

/** The options of a kind of work, of a model that does several. */
export function schemaFor(schema: OptionsSchema, kind: string): OptionsSchema {
  const properties = Object.entries(schema.properties).filter(
    ([, option]) => option['x-kinds']?.includes(kind) !== false,
  );
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** The typed inputs of this work that are sent as options. */
export function findTranslations(work: object, schema: OptionsSchema | null): readonly Translation[] {
  const options = Object.entries(schema?.properties ?? {});
  return TRANSLATED.flatMap((input) => {
    const value = (work as Readonly<Record<string, unknown>>)[input];
    if (typeof value !== 'string' && typeof value !== 'boolean') return [];
    const [name, option] = options.find(([, one]) => one['x-input'] === input) ?? [];
    return [{ input, value: spelled(value, option), ...(name !== undefined && { option: name }) }];
  });
}

/** The work with typed inputs as options of the model, by the names and words of its vendor. */
export function withTranslations<Work extends Translatable>(work: Work, schema: OptionsSchema | null): Work {
  const own = schema === null ? null : schemaFor(schema, work.kind);
  const translated = findTranslations(work, own).flatMap(({ option, value }) =>
    option === undefined ? [] : [[option, value] as const],
  );
  const isTranslated = (name: string) => (TRANSLATED as readonly string[]).includes(name);
  const rest = Object.entries(work).filter(([name]) => !isTranslated(name));
  const options = { ...Object.fromEntries(translated), ...work.options };
  return {
    ...Object.fromEntries(rest),
    ...(Object.keys(options).length > 0 && { options }),
  } as unknown as Work;
}

/** As the vendor spells it: case does not matter, jpg is jpeg, and a switch may be on and off. */
function spelled(value: string | boolean, option: OptionSchema | undefined): string | boolean {
  if (typeof value === 'boolean') {
    const word = value ? 'on' : 'off';
    return option?.enum?.includes(word) === true ? word : value;
  }
  const plain = (word: string) => word.toLowerCase().replace(/^jpg$/, 'jpeg');
  const same = option?.enum?.find((word) => typeof word === 'string' && plain(word) === plain(value));
  return typeof same === 'string' ? same : value;
}
